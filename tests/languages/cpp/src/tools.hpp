// The tools of the conformance plugin, by the file that they are in.
#ifndef TOOLS_HPP
#define TOOLS_HPP

#include <string>
#include <vector>

#include <portcullis.hpp>

using portcullis::Json;
using portcullis::Result;
using portcullis::Value;

// A number that the schema says is there, and within its bounds.
inline std::int64_t number_of(Value arguments, std::string_view name) {
    return arguments[name].integer().value_or(0);
}

// A list of texts.
inline std::vector<std::string> texts_of(Value arguments, std::string_view name) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < arguments[name].size(); i++) texts.push_back(arguments[name][i].string());
    return texts;
}

// data.cpp: what goes in and out.
Result echo(Value arguments);
Result reverse(Value arguments);
Result repeat(Value arguments);
Result measure(Value arguments);
Result add(Value arguments);
Result picture();
Result write_out(Value arguments);
Result keep_text(Value arguments);

// endings.cpp: how a call ends.
Result fail(Value arguments);
Result trap();
Result wait();
Result spin();
Result hog();
Result recurse();

// files.cpp: a granted directory, through the standard library alone.
Result read_file(Value arguments);
Result write_file(Value arguments);
Result list_directory(Value arguments);
Result remove_file(Value arguments);

// host.cpp: what a tool sees of its host, and says to it.
Result progress(Value arguments);
Result context();
Result ask(Value arguments);
Result fetch(Value arguments);
Result remember(Value arguments);
Result recall(Value arguments);
Result setting(Value arguments);
Result print(Value arguments);
Result surroundings();

// programs.cpp: programs of the system.
Result run_program(Value arguments);
Result stream(Value arguments);
Result converse(Value arguments);

// toolset.cpp: tools of other plugins.
Result delegate(Value arguments);
Result delegate_all(Value arguments);
Result lookup(Value arguments);
Result plan(Value arguments);

#endif
