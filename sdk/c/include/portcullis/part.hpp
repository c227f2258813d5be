// The pieces of answers.
#ifndef PORTCULLIS_PART_HPP
#define PORTCULLIS_PART_HPP

#include <string>
#include <utility>

#include "failure.hpp"
#include "host.h"

namespace portcullis {

// A piece of an answer. The name of an image or a file is for people, such as "report.csv". It is never a path.
struct Part {
    portcullis_part_kind kind;
    std::string media_type;
    std::string data;
    std::string name = {};  // empty: none

    static Part text(std::string text) { return {PORTCULLIS_PART_TEXT, {}, std::move(text)}; }
    static Part image(std::string media_type, std::string data, std::string name = {}) {
        return {PORTCULLIS_PART_IMAGE, std::move(media_type), std::move(data), std::move(name)};
    }
    static Part file(std::string media_type, std::string data, std::string name = {}) {
        return {PORTCULLIS_PART_FILE, std::move(media_type), std::move(data), std::move(name)};
    }

    // A media type or a name that is cut at a NUL would be a different one.
    Expected<void> check() const {
        if (auto plain = whole("a media type", media_type); !plain) return plain;
        return whole("the name of a file", name);
    }

    // Lends the part to the functions in C.
    portcullis_part raw() const {
        return {
            .kind = kind,
            .media_type = media_type.c_str(),
            .data = data.data(),
            .length = data.size(),
            .name = name.empty() ? nullptr : name.c_str(),
        };
    }
};

}  // namespace portcullis

#endif
