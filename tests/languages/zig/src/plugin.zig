//! The conformance plugin: the same tools in every language.

const portcullis = @import("portcullis");

const data = @import("data.zig");
const endings = @import("endings.zig");
const files = @import("files.zig");
const host = @import("host.zig");
const programs = @import("programs.zig");
const toolset = @import("toolset.zig");
const tool = portcullis.tool;

const Hints = portcullis.Hints;
const pure: Hints = .{ .read_only = true, .idempotent = true };
const executes: portcullis.Permissions = .{ .read = true, .write = true, .execute = true };

pub const plugin: portcullis.Plugin = .{
    .name = "conformance",
    .version = "1.0.0",
    .description = "The same tools in every language.",
    .dependencies = &.{
        .{
            .key = "workspace",
            .kind = .directory,
            .optional = true,
            .reason = "Files that the tools read and write.",
        },
        .{ .key = "web", .kind = .http, .optional = true, .reason = "What the tools fetch." },
        .{ .key = "notes", .kind = .store, .optional = true, .reason = "What the tools remember." },
        .{ .key = "sh", .kind = .process, .optional = true, .reason = "What the tools run." },
        .{ .key = "others", .kind = .tools, .optional = true, .reason = "What the tools call." },
    },
    .tools = &.{
        tool("echo", "Gives back a value as it came.", data.echo, .{
            .hints = pure,
            .exact_numbers = true,
        }),
        tool("reverse", "Reverses the characters of a text.", data.reverse, .{ .hints = pure }),
        tool("repeat", "Repeats a text, for an answer of any size.", data.repeat, .{ .hints = pure }),
        tool("measure", "Counts the bytes and the characters of a text.", data.measure, .{ .hints = pure }),
        tool("add", "Adds two whole numbers.", data.add, .{ .hints = pure }),
        tool("picture", "Shows a picture of one pixel, and a file beside it.", data.picture, .{ .hints = pure }),
        tool("write-out", "Writes its answer in pieces while it works.", data.writeOut, .{ .hints = pure }),
        tool("keep", "Keeps a text as a file beside its answer.", data.keep, .{ .hints = pure }),

        tool("fail", "Ends with a failure of the kind that is asked for.", endings.fail, .{ .hints = pure }),
        tool("trap", "Breaks off in the middle.", endings.trap, .{ .hints = pure }),
        tool("wait", "Waits until the call is cancelled.", endings.wait, .{ .hints = pure }),
        tool("spin", "Never comes to an end.", endings.spin, .{ .hints = pure }),
        tool("hog", "Takes memory until there is none.", endings.hog, .{ .hints = pure }),
        tool("recurse", "Calls itself until the stack ends.", endings.recurse, .{ .hints = pure }),

        tool("read", "Reads a text file.", files.read, .{ .requires = .{ .read = true }, .hints = pure }),
        tool("write", "Writes a text file, and the directories above it.", files.write, .{
            .requires = .{ .read = true, .write = true },
            .hints = .{ .destructive = true, .idempotent = true },
        }),
        tool("list", "Lists a directory.", files.list, .{ .requires = .{ .read = true }, .hints = pure }),
        tool("remove", "Removes a file.", files.remove, .{
            .requires = .{ .read = true, .write = true },
            .hints = .{ .destructive = true },
        }),

        tool("progress", "Reports its progress, step by step.", host.progress, .{ .hints = pure }),
        tool("context", "Says who asked for the call.", host.context, .{ .hints = pure }),
        tool("ask", "Asks whether something may be done.", host.ask, .{ .requires = .{ .write = true } }),
        tool("fetch", "Fetches what is behind a URL.", host.fetch, .{
            .requires = .{ .network = true },
            .hints = .{ .open_world = true },
        }),
        tool("remember", "Keeps a value for later calls.", host.remember, .{
            .requires = .{ .write = true },
            .hints = .{ .idempotent = true },
            .exact_numbers = true,
        }),
        tool("recall", "Gives back a value that was kept.", host.recall, .{
            .requires = .{ .read = true },
            .hints = pure,
        }),
        tool("setting", "Gives back a setting of the policy.", host.setting, .{ .hints = pure }),
        tool("print", "Writes a text to both outputs and to the log.", host.print, .{ .hints = pure }),
        tool("surroundings", "Says what is around the plugin: clocks, randomness, environment.", host.surroundings, .{
            .hints = .{ .read_only = true },
        }),

        tool("run", "Runs a program to its end, and answers with what it wrote.", programs.run, .{
            .requires = executes,
        }),
        tool("stream", "Passes on what a program writes, and ends the program once it has written a text.", programs.stream, .{
            .requires = executes,
        }),
        tool("converse", "Writes lines to a program, and reads its answer to each.", programs.converse, .{
            .requires = executes,
        }),

        tool("delegate", "Calls another tool, and answers as that tool does.", toolset.delegate, .{
            .exact_numbers = true,
        }),
        tool("delegate-all", "Calls several tools with a text each at the same time, and answers with the text or the failure of each.", toolset.delegateAll, .{}),
        tool("plan", "Says what would happen to calls of other tools with a text each, and asks for them together.", toolset.plan, .{
            .hints = .{ .read_only = true },
        }),
        tool("lookup", "Lists and searches other tools, and says how one of them is defined.", toolset.lookup, .{
            .hints = pure,
        }),
    },
};
