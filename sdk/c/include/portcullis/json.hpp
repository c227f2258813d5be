// JSON: parsed values and new values.
#ifndef PORTCULLIS_JSON_HPP
#define PORTCULLIS_JSON_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "failure.hpp"
#include "../portcullis.h"

namespace portcullis {

// A parsed JSON value. An absent one is like null, and has the empty value of every type.
class Value {
  public:
    Value(yyjson_val *value = nullptr) : value_(value) {}

    Value operator[](std::string_view key) const { return yyjson_obj_getn(value_, key.data(), key.size()); }
    Value operator[](std::size_t index) const { return yyjson_arr_get(value_, index); }
    // Returns the number of elements or members.
    std::size_t size() const { return yyjson_is_obj(value_) ? yyjson_obj_size(value_) : yyjson_arr_size(value_); }

    bool is_null() const { return !value_ || yyjson_is_null(value_); }
    explicit operator bool() const { return !is_null(); }

    std::string_view text() const {
        if (!yyjson_is_str(value_)) return {};
        return {yyjson_get_str(value_), yyjson_get_len(value_)};
    }
    std::string string() const { return std::string(text()); }
    // Returns nothing if it is not a whole number, or beyond 64 bits.
    std::optional<std::int64_t> integer() const {
        std::int64_t number = 0;
        if (!portcullis_integer(value_, &number)) return std::nullopt;
        return number;
    }
    double number() const { return yyjson_get_num(value_); }
    bool boolean() const { return yyjson_get_bool(value_); }

    // Returns the yyjson value.
    yyjson_val *raw() const { return value_; }

  private:
    yyjson_val *value_;
};

// A new JSON value.
class Json {
  public:
    using Member = std::pair<std::string_view, Json>;

    Json(std::nullptr_t = nullptr) : value_(yyjson_mut_null(document())) {}
    template <typename Scalar>
        requires std::is_arithmetic_v<Scalar>
    Json(Scalar value) : value_(scalar(value)) {}
    Json(std::string_view text)
        : value_(yyjson_mut_strncpy(document(), text.empty() ? "" : text.data(), text.size())) {}
    Json(const std::string &text) : Json(std::string_view(text)) {}
    Json(const char *text) : Json(std::string_view(text)) {}
    Json(Value value) : value_(value.raw() ? yyjson_val_mut_copy(document(), value.raw()) : Json().value_) {}
    template <typename Optional>
    Json(const std::optional<Optional> &value) : value_(value ? Json(*value).value_ : Json().value_) {}

    static Json object(std::initializer_list<Member> members = {}) {
        Json object(yyjson_mut_obj(document()));
        for (const auto &[key, value] : members) object.set(key, value);
        return object;
    }
    static Json array(std::initializer_list<Json> items = {}) {
        Json array(yyjson_mut_arr(document()));
        for (const Json &item : items) array.push(item);
        return array;
    }

    // Parses a text; null if it is not JSON.
    static Json parse(std::string_view text) {
        return Value(yyjson_doc_get_root(yyjson_read(text.data(), text.size(), YYJSON_READ_NOFLAG)));
    }

    // Sets a member of an object.
    Json &set(std::string_view key, Json value) {
        yyjson_mut_obj_put(value_, Json(key).value_, value.copy());
        return *this;
    }
    // Adds an element to an array.
    Json &push(Json value) {
        yyjson_mut_arr_append(value_, value.copy());
        return *this;
    }

    // Fails if it contains a number that JSON cannot represent, such as NaN, or text that is not UTF-8.
    Expected<std::string> text() const {
        std::size_t length = 0;
        yyjson_write_err error;
        char *written = yyjson_mut_val_write_opts(value_, YYJSON_WRITE_NOFLAG, nullptr, &length, &error);
        if (!written) return refused(portcullis_unwritten(error).failure);
        std::string text(written, length);
        std::free(written);
        return text;
    }

    // Returns the document that owns all values of the call.
    static yyjson_mut_doc *document() {
        static yyjson_mut_doc *const document = yyjson_mut_doc_new(nullptr);
        return document;
    }

  private:
    explicit Json(yyjson_mut_val *value) : value_(value) {}

    // A value can have only one parent, because the parent links it to its next sibling.
    yyjson_mut_val *copy() const {
        yyjson_mut_val *copied = yyjson_mut_val_mut_copy(document(), value_);
        return copied ? copied : Json().value_;
    }

    template <typename Scalar>
    static yyjson_mut_val *scalar(Scalar value) {
        if constexpr (std::same_as<Scalar, bool>) return yyjson_mut_bool(document(), value);
        else if constexpr (std::is_floating_point_v<Scalar>) return yyjson_mut_real(document(), value);
        else if constexpr (std::is_signed_v<Scalar>) return yyjson_mut_sint(document(), value);
        else return yyjson_mut_uint(document(), value);
    }

    yyjson_mut_val *value_;
};

}  // namespace portcullis

#endif
