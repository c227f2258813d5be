#include <algorithm>
#include <string>
#include <vector>

#include "tools.hpp"

using portcullis::Failure;
using portcullis::Part;
using portcullis::Success;

// What the tool `picture` shows.
static constexpr unsigned char PIXEL[] = {
#embed "pixel.png"
};

Result echo(Value arguments) {
    return Json::object({{"value", arguments["value"]}});
}

// Whether a byte begins a character of UTF-8.
static bool begins(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

static std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, begins));
}

Result reverse(Value arguments) {
    const std::string_view text = arguments["text"].text();
    std::string reversed;
    for (std::size_t end = text.size(), start = end; end > 0; end = start) {
        do start--;
        while (start > 0 && !begins(text[start]));
        reversed += text.substr(start, end - start);
    }
    return Success(reversed).title("Reversed").metadata(Json::object({{"characters", characters(text)}}));
}

Result repeat(Value arguments) {
    const std::string_view text = arguments["text"].text();
    std::string repeated;
    for (std::int64_t i = 0; i < number_of(arguments, "times"); i++) repeated += text;
    return repeated;
}

Result measure(Value arguments) {
    const std::string_view text = arguments["text"].text();
    return Json::object({{"bytes", text.size()}, {"characters", characters(text)}});
}

Result add(Value arguments) {
    const auto a = arguments["a"].integer(), b = arguments["b"].integer();
    std::int64_t sum = 0;
    if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) {
        return Failure::invalid_arguments("this is beyond 64 bits: take smaller numbers");
    }
    const Value kind = arguments["kind"], note = arguments["note"];
    Json answer = Json::object({{"sum", sum}, {"kind", kind ? kind.text() : "exact"}});
    if (note) answer.set("note", note);
    return answer;
}

Result picture() {
    std::vector<Part> parts = {
        Part::text("a pixel"),
        Part::image("image/png", std::string(std::begin(PIXEL), std::end(PIXEL))),
        Part::file("application/octet-stream", {'\0', '\1', '\2', '\xff'}),
    };
    return Success(std::move(parts)).title("Picture");
}

Result write_out(Value arguments) {
    for (std::int64_t i = 1; i <= number_of(arguments, "pieces"); i++) {
        auto written = portcullis::write("piece " + std::to_string(i) + "\n");
        if (!written) return written.error();
    }
    return "end";
}

Result keep_text(Value arguments) {
    const auto kept =
        portcullis::keep_file(Part::file("text/plain", arguments["text"].string(), arguments["name"].string()));
    if (!kept) return kept.error();
    return "kept";
}
