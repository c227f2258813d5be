// What stands at the edges of the SDK: JSON that cannot be written, and texts with NUL.
#include <algorithm>
#include <limits>

#include <portcullis.hpp>

using portcullis::Failure;
using portcullis::Json;
using portcullis::Part;
using portcullis::Result;
using portcullis::Success;
using portcullis::Value;

// A pointer is no boolean.
static_assert(!std::is_constructible_v<Json, const char8_t *> && !std::is_constructible_v<Json, void *>);
static_assert(std::is_constructible_v<Json, bool>);

// "café" in Latin-1, which is no UTF-8.
static constexpr char LATIN[] = "caf\xE9";
// A text with NUL.
static const std::string LONG("a\0b", 3);

static Result no_number() {
    return Json::object({{"mean", std::numeric_limits<double>::quiet_NaN()}, {"count", 3}});
}

static Result latin_json() {
    return Json::object({{"text", LATIN}});
}

static Result latin_metadata() {
    return Success("done").title("a title").metadata(Json::object({{"text", LATIN}}));
}

static Result empty() {
    return Json::object({{"text", std::string_view()}, {"none", std::optional<int>()}, {"is", true}});
}

static Result long_words() {
    portcullis::log(PORTCULLIS_INFO, LONG);
    auto said = portcullis::report({.title = LONG});
    if (!said) return said.error();
    return Success(LONG).title(LONG);
}

static Result long_failure() {
    return Failure::failed(LONG);
}

static Result long_names() {
    std::string said;
    if (auto store = portcullis::Store::open(std::string("notes\0x", 7)); !store) said += store.error().message + "|";
    if (auto response = portcullis::fetch("web", {.url = "http://example.com/" + LONG}); !response) {
        said += response.error().message;
    }
    return said;
}

static Result long_type() {
    return std::vector{Part::file(std::string("text/plain\0x", 12), "a")};
}

static Result long_file_name() {
    return std::vector{Part::file("text/plain", "a", LONG)};
}

static Result named() {
    return std::vector{Part::image("image/png", "a", "plot.png"), Part::file("text/csv", "a", "report.csv")};
}

static Result later() {
    return Failure::unavailable("the queue is full", 90);
}

static Result keeps() {
    if (portcullis::keep_file(Part::file("text/plain", "a", LONG))) return "it was kept";
    const auto kept = portcullis::keep_file(Part::file("text/plain", "one\ntwo", "notes.txt"));
    if (!kept) return kept.error();
    return "done";
}

static Result whole(Value arguments) {
    return Json::object({{"whole", arguments["value"].integer()}});
}

// The examples of the SDK's README.

static portcullis::Result history() {
    const auto git = portcullis::Program::open("git");
    if (!git) return git.error();
    const auto output = git->run({.arguments = {"log", "-5", "--oneline"}, .directory = "/workspace"}, 64 * 1024);
    if (!output) return output.error();
    if (!output->report.is_success()) return portcullis::Failure::failed("git: " + output->report.text);
    return portcullis::to_utf8(output->out);
}

static portcullis::Result lines() {
    const auto others = portcullis::Toolset::open("others");
    if (!others) return others.error();
    const auto readme = others->call("files.read", portcullis::Json::object({{"path", "README.md"}}));
    if (!readme) return readme.error();
    const std::string text = readme->text();
    return std::to_string(std::count(text.begin(), text.end(), '\n'));
}

static constexpr portcullis::Tool TOOLS[] = {
    {.name = "no-number", .description = "Answers with NaN, which JSON has not.", .run = portcullis::run<no_number>},
    {.name = "latin-json", .description = "Answers with JSON that is no UTF-8.", .run = portcullis::run<latin_json>},
    {.name = "latin-metadata", .description = "Has metadata that are no UTF-8.",
     .run = portcullis::run<latin_metadata>},
    {.name = "empty", .description = "Answers with what is empty.", .run = portcullis::run<empty>},
    {.name = "long-words", .description = "Says what has a NUL in it.", .run = portcullis::run<long_words>},
    {.name = "long-failure", .description = "Fails with words that have a NUL.", .run = portcullis::run<long_failure>},
    {.name = "long-names", .description = "Names what has a NUL in it.", .optional = PORTCULLIS_NETWORK,
     .run = portcullis::run<long_names>},
    {.name = "long-type", .description = "Has a media type with a NUL.", .run = portcullis::run<long_type>},
    {.name = "long-file-name", .description = "Has a file name with a NUL.",
     .run = portcullis::run<long_file_name>},
    {.name = "named", .description = "Names an image and a file.", .run = portcullis::run<named>},
    {.name = "later", .description = "Says when to try again.", .run = portcullis::run<later>},
    {.name = "keeps", .description = "Keeps a file beside its answer.", .run = portcullis::run<keeps>},
    {.name = "history", .description = "Shows the last commits.", .required = PORTCULLIS_EXECUTE,
     .run = portcullis::run<history>},
    {.name = "lines", .description = "Counts the lines of the readme.", .run = portcullis::run<lines>},
    {.name = "whole",
     .description = "Reads a whole number.",
     .schema = R"({
        "type": "object",
        "properties": {"value": {"description": "What is tried."}},
        "required": ["value"],
        "additionalProperties": false
     })",
     .run = portcullis::run<whole>},
};

static constexpr portcullis::Dependency DEPENDENCIES[] = {
    {"notes", PORTCULLIS_STORE, true, "what a name is cut to"},
    {"web", PORTCULLIS_HTTP, true, "what is fetched"},
    {"git", PORTCULLIS_PROCESS, true, "reads the commits"},
    {"others", PORTCULLIS_TOOLS, true, "reads the file"},
};

const portcullis::Plugin portcullis_this_plugin = {
    .name = "edges",
    .version = "0.1.0",
    .description = "Stands at the edges of the SDK.",
    .tools = TOOLS,
    .tool_count = std::size(TOOLS),
    .dependencies = DEPENDENCIES,
    .dependency_count = std::size(DEPENDENCIES),
};
