//! For editors, and for `zig build test`. The component is made by `portcullis build`.

const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const sdk = b.dependency("portcullis", .{ .target = target, .optimize = optimize });
    const plugin = b.createModule(.{
        .root_source_file = b.path("src/plugin.zig"),
        .target = target,
        .optimize = optimize,
        .imports = &.{.{ .name = "portcullis", .module = sdk.module("portcullis") }},
    });
    const tests = b.addRunArtifact(b.addTest(.{ .root_module = plugin }));
    b.step("test", "Run the tests in src/").dependOn(&tests.step);
}
