#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "tools.hpp"

namespace fs = std::filesystem;
using portcullis::Failure;

// Where the host shows the directory.
static const fs::path WORKSPACE = "/workspace";

// The place of a path. A path with a NUL in it would be cut there, and no file has one in its name: there is no place.
static std::optional<fs::path> full(std::string_view path) {
    if (path.contains('\0')) return std::nullopt;
    return WORKSPACE / path;
}

static Failure cannot(const char *what, std::string_view path, const std::string &why) {
    return Failure::failed(std::string("cannot ") + what + " " + std::string(path) + ": " + why);
}

static Failure cannot(const char *what, std::string_view path, int error) {
    return cannot(what, path, std::string(std::strerror(error)));
}

Result read_file(Value arguments) {
    const std::string_view path = arguments["path"].text();
    const auto place = full(path);
    if (!place) return cannot("read", path, EINVAL);
    std::ifstream file(*place, std::ios::binary);
    if (!file) return cannot("read", path, errno);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) return cannot("read", path, errno);
    return text;
}

Result write_file(Value arguments) {
    const std::string_view path = arguments["path"].text(), text = arguments["text"].text();
    const auto place = full(path);
    if (!place) return cannot("write", path, EINVAL);
    std::error_code error;
    fs::create_directories(place->parent_path(), error);
    if (error) return cannot("write", path, error.message());
    std::ofstream file(*place, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) return cannot("write", path, errno);
    return "wrote " + std::to_string(text.size()) + " bytes";
}

Result list_directory(Value arguments) {
    const std::string_view path = arguments["path"].text();
    const auto place = full(path);
    if (!place) return cannot("list", path, EINVAL);
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(*place, error), end; !error && at != end; at.increment(error)) {
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
    const auto place = full(path);
    if (!place) return cannot("remove", path, EINVAL);
    std::error_code error;
    const bool removed = fs::remove(*place, error);
    if (error) return cannot("remove", path, error.message());
    if (!removed) return cannot("remove", path, "there is no such file");
    return "removed";
}
