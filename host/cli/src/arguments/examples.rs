//! The examples at the end of each command's help. A unit test parses every line, so each is a valid command line.
//! `allow`, `ask`, `deny` and `grant` have theirs at the end of a longer text, in `editing.rs`.

/// The examples of each command, one per line, each at most 58 columns wide with its indentation.
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    ("init", "  portcullis init\n  portcullis init --yes\n  portcullis init --undo"),
    ("doctor", "  portcullis doctor"),
    ("uninstall", "  portcullis uninstall"),
    ("pause", "  portcullis pause"),
    ("resume", "  portcullis resume"),
    ("suggest", "  portcullis suggest"),
    ("watch", "  portcullis watch"),
    ("log", "  portcullis log --since yesterday\n  portcullis log --denied\n  portcullis log show 1c9a03b7"),
    ("log show", "  portcullis log show 1c9a03b7"),
    ("list", "  portcullis list\n  portcullis list --tokens"),
    ("inspect", "  portcullis inspect files\n  portcullis inspect ./new-plugin.wasm"),
    ("check", "  portcullis check plugins/notes.wasm"),
    (
        "call",
        "  portcullis call files.read '{\"path\":\"README.md\"}'\n  \
         portcullis call files.list --session review --json\n  \
         portcullis call files.read - < arguments.json",
    ),
    (
        "serve",
        "  portcullis serve --stdio\n  \
         portcullis serve --http 127.0.0.1:8080\n  \
         portcullis serve --http 127.0.0.1:8080 --metrics 127.0.0.1:9464 --log-format json",
    ),
    (
        "server add",
        "  portcullis server add memory npm:a@1.2.3\n  \
         portcullis server add git pypi:b==1.0 --directory r=.\n  \
         portcullis server add notes -- /opt/notes --verbose\n  \
         portcullis server add a --url https://a.example/mcp --oauth",
    ),
    ("server install", "  portcullis server install\n  portcullis server install memory"),
    ("server list", "  portcullis server list\n  portcullis server list --try"),
    ("server remove", "  portcullis server remove memory"),
    ("login", "  portcullis login linear\n  portcullis login linear --no-browser"),
    ("logout", "  portcullis logout linear"),
    ("import", "  portcullis import --dry-run\n  portcullis import --replace --secrets-to ~/keys"),
    (
        "export",
        "  portcullis export --format openai-responses\n  \
         portcullis export --format anthropic --tool 'files.*'",
    ),
    ("explain", "  portcullis explain files.write '{\"path\":\"a.txt\"}'"),
    ("approvals list", "  portcullis approvals list\n  portcullis approvals list --all"),
    ("approvals show", "  portcullis approvals show c02ddb"),
    (
        "approvals approve",
        "  portcullis approvals approve c02ddb\n  \
         portcullis approvals approve c02ddb --session --for 2",
    ),
    ("approvals reject", "  portcullis approvals reject c02ddb --note 'not there'"),
    ("approvals revoke", "  portcullis approvals revoke 5f1e20"),
    ("console", "  portcullis console --open\n  portcullis console --port 8090"),
    (
        "trust",
        "  portcullis trust portcullis.toml\n  \
         portcullis trust portcullis.toml --remove",
    ),
    ("accept", "  portcullis accept petstore\n  portcullis accept petstore --yes --json"),
    (
        "audit show",
        "  portcullis audit show --limit 20\n  \
         portcullis audit show --call 1c9a03b7\n  \
         portcullis audit show --tree",
    ),
    (
        "audit verify",
        "  portcullis audit verify\n  \
         portcullis audit verify --all --state DIR --state env:LEDGER --ledger-key FILE /mnt/host-2/portcullis",
    ),
    ("new", "  portcullis new notes\n  portcullis new notes --lang python"),
    ("build", "  portcullis build\n  portcullis build notes --out notes.wasm"),
    ("test", "  portcullis test\n  portcullis test --only 'a name in capitals'"),
    (
        "bench",
        "  portcullis bench\n  \
         portcullis bench --save before.json\n  \
         portcullis bench --compare before.json --fail-above 1.5\n  \
         portcullis bench a.wasm --tool b --arguments '{\"c\":1}'",
    ),
    ("dev", "  portcullis dev\n  portcullis dev --http 127.0.0.1:9000"),
    (
        "completions",
        "  portcullis completions bash > portcullis.bash\n  \
         portcullis completions zsh > _portcullis\n  \
         portcullis completions fish > portcullis.fish\n  \
         portcullis completions powershell > portcullis.ps1",
    ),
    ("man", "  portcullis man | man -l -\n  portcullis man man1"),
    ("help", "  portcullis help call\n  portcullis help approvals list"),
    ("version", "  portcullis version\n  portcullis version --json"),
];

/// Returns the examples of a command.
pub(super) fn examples(path: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(command, _)| *command == path).map(|(_, lines)| *lines)
}
