#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tools.hpp"

namespace fs = std::filesystem;
using portcullis::Failure;

// Where the host shows the directory.
static const fs::path WORKSPACE = "/workspace";

static fs::path full(std::string_view path) {
    return WORKSPACE / path;
}

static Failure cannot(const char *what, std::string_view path, const std::string &why) {
    return Failure::failed(std::string("cannot ") + what + " " + std::string(path) + ": " + why);
}

Result read_file(Value arguments) {
    const std::string_view path = arguments["path"].text();
    std::ifstream file(full(path), std::ios::binary);
    if (!file) return cannot("read", path, std::strerror(errno));
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) return cannot("read", path, std::strerror(errno));
    return text;
}

Result write_file(Value arguments) {
    const std::string_view path = arguments["path"].text(), text = arguments["text"].text();
    std::error_code error;
    fs::create_directories(full(path).parent_path(), error);
    if (error) return cannot("write", path, error.message());
    std::ofstream file(full(path), std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) return cannot("write", path, std::strerror(errno));
    return "wrote " + std::to_string(text.size()) + " bytes";
}

Result list_directory(Value arguments) {
    const std::string_view path = arguments["path"].text();
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(full(path), error), end; !error && at != end; at.increment(error)) {
        entries.push_back(*at);
    }
    if (error) return cannot("list", path, error.message());
    std::ranges::sort(entries, {}, [](const fs::directory_entry &entry) { return entry.path().filename().string(); });
    Json list = Json::array();
    for (const fs::directory_entry &entry : entries) {
        const bool is_directory = entry.is_directory(error);
        list.push(Json::object({
            {"name", entry.path().filename().string()},
            {"kind", is_directory ? "directory" : "file"},
            {"size", is_directory ? 0 : entry.file_size(error)},
        }));
    }
    return Json::object({{"entries", list}});
}

Result remove_file(Value arguments) {
    const std::string_view path = arguments["path"].text();
    std::error_code error;
    const bool removed = fs::remove(full(path), error);
    if (error) return cannot("remove", path, error.message());
    if (!removed) return cannot("remove", path, "there is no such file");
    return "removed";
}
