//! For editors, and for native tests. A component is made by `portcullis build`.

const std = @import("std");

pub fn build(b: *std.Build) void {
    const module = b.addModule("portcullis", .{
        .root_source_file = b.path("src/portcullis.zig"),
        .target = b.standardTargetOptions(.{}),
        .optimize = b.standardOptimizeOption(.{}),
    });
    const tests = b.addRunArtifact(b.addTest(.{ .root_module = module }));
    b.step("test", "Run the tests").dependOn(&tests.step);
}
