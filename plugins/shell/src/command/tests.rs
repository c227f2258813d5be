use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

use super::{Explanation, explain, explain_shell, extent, limit};

/// A command, the programs that it runs, the files that it writes and those that it reads.
type Case = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const CASES: &[Case] = &[
    ("", &[], &[], &[]),
    ("# a comment", &[], &[], &[]),
    ("git status", &["git"], &[], &[]),
    ("cd src && git status; make -j4 || true", &["git", "make"], &[], &[]),
    ("/usr/bin/git status", &["/usr/bin/git"], &[], &[]),
    ("sort a | uniq -c | sort -rn", &["sort", "uniq"], &[], &[]),
    ("! grep -q x a.txt", &["grep"], &[], &[]),
    ("time cargo build", &["cargo"], &[], &[]),
    ("sleep 5 & wait", &["sleep"], &[], &[]),
    // Redirections.
    ("ls > out.txt 2>&1", &["ls"], &["out.txt"], &[]),
    ("ls >> 'my log' 2> /dev/null", &["ls"], &["my log"], &[]),
    ("sort < in.txt >| \"$out\"", &["sort"], &["\"$out\""], &["in.txt"]),
    ("cmd &> all.txt", &["cmd"], &["all.txt"], &[]),
    ("cmd >& all.txt", &["cmd"], &["all.txt"], &[]),
    ("cmd 3<> both", &["cmd"], &["both"], &["both"]),
    ("> empty", &[], &["empty"], &[]),
    ("{ date; ls; } > list", &["date", "ls"], &["list"], &[]),
    ("sed s/a/b/ <<< \"$(cat a)\"", &["cat", "sed"], &[], &[]),
    ("tee >(gzip > a.gz) < <(cat b)", &["gzip", "cat", "tee"], &["a.gz"], &[]),
    // Substitutions.
    ("echo $(git rev-parse HEAD)", &["git"], &[], &[]),
    ("echo \"at $(date +%s) in `pwd -P; id`\"", &["date", "id"], &[], &[]),
    ("echo \"$(a \"$(b \"$(c)\")\")\"", &["c", "b", "a"], &[], &[]),
    ("echo '$(rm x)' \\$x", &[], &[], &[]),
    ("x=$(nproc); y=${z:-$(id -u)}; echo $((x + $(wc -l < a)))", &["nproc", "id", "wc"], &[], &["a"]),
    ("a=(one $(two) three)", &["two"], &[], &[]),
    ("git commit -m \"$(cat <<'EOF'\nIt's done (partly)\n\n# not a comment\nEOF\n)\"", &["cat", "git"], &[], &[]),
    // Here-documents.
    ("cat > a.py <<'EOF'\nprint('$(rm x)')\nEOF\npython3 a.py", &["cat", "python3"], &["a.py"], &[]),
    ("cat <<EOF\n$(whoami) it's\nEOF\n", &["whoami", "cat"], &[], &[]),
    ("cat <<-EOF | tr a b\n\ttext\n\tEOF\nls", &["cat", "tr", "ls"], &[], &[]),
    ("curl \\\n  -o a \\\n  https://a.example/", &["curl"], &[], &[]),
    // Compound commands.
    ("(cd a && make)", &["make"], &[], &[]),
    ("if test -f a; then rm a; elif grep x b; then mv b c; else touch d; fi", &["rm", "grep", "mv", "touch"], &[], &[]),
    ("IFS=$'\\n\\'' read -r x; tr $'\\t' ' '", &["tr"], &[], &[]),
    ("for f in *.txt $(ls); do gzip \"$f\"; done", &["ls", "gzip"], &[], &[]),
    ("for ((i = 0; i < $(nproc); i++)); do run; done", &["nproc", "run"], &[], &[]),
    ("while read -r line; do echo \"$line\"; done < in", &[], &[], &["in"]),
    ("until curl -s a; do sleep 1; done", &["curl", "sleep"], &[], &[]),
    ("case $(uname) in Linux|Darwin) make;; *) exit 1;; esac", &["uname", "make"], &[], &[]),
    ("[[ $(id -u) == 0 && -f a ]] && ((x++)) && ls", &["id", "ls"], &[], &[]),
    ("f() { rm \"$1\"; }; f a", &["rm", "f"], &[], &[]),
    ("function g { date; } > log; g", &["date", "g"], &["log"], &[]),
    // Quoted names.
    ("\"g\"it status", &["git"], &[], &[]),
    ("g\\it 'status'; r''m x; 'make'", &["git", "rm", "make"], &[], &[]),
    ("gi\\\nt status", &["git"], &[], &[]),
    // Launchers.
    ("env X=1 -u Y prog a", &["env", "prog"], &[], &[]),
    ("X=1 Y=$(date) prog", &["date", "prog"], &[], &[]),
    ("command prog a; command -v other", &["prog"], &[], &[]),
    ("exec prog", &["prog"], &[], &[]),
    ("nohup nice -n 5 timeout -k 5 10s prog &", &["nohup", "nice", "timeout", "prog"], &[], &[]),
    ("sudo -u me rm a", &["sudo", "rm"], &[], &[]),
    ("ls | xargs -0 -n1 rm -f", &["ls", "xargs", "rm"], &[], &[]),
    ("ls | xargs -I{} mv {} b/{}", &["ls", "xargs", "mv"], &[], &[]),
    ("find . -name '*.o' -exec rm {} + -execdir ls ';'", &["find", "rm", "ls"], &[], &[]),
    ("find . -exec sh -c 'gzip \"$1\"' _ {} \\;", &["find", "sh", "gzip"], &[], &[]),
    ("bash -ec 'git pull && make'", &["bash", "git", "make"], &[], &[]),
    ("sh script.sh a", &["sh"], &[], &[]),
    ("trap 'rm -f a' EXIT; trap - INT", &["rm"], &[], &[]),
    ("trap \"--\" 'mv x' EXIT; trap -p; trap -- - INT", &["mv"], &[], &[]),
    ("ls | xargs --replace rm {}; ls | xargs --replace=X mv a X", &["ls", "xargs", "rm", "mv"], &[], &[]),
    (
        "ls | xargs -i cp {} b; xargs -e -l mv; xargs --eof --max-lines ln a",
        &["ls", "xargs", "cp", "mv", "ln"],
        &[],
        &[],
    ),
    ("ls | xargs sh a.sh; xargs -I{} find {} -name '*.o'", &["ls", "xargs", "sh", "find"], &[], &[]),
    ("env - X=1 a.b=c rm; env -- Y=1 mv x", &["env", "rm", "mv"], &[], &[]),
    ("find . -exec env -u + rm {} \\;", &["find", "env", "rm"], &[], &[]),
    ("bash -euo pipefail -c 'git pull'; bash -O globstar -co errexit make", &["bash", "git", "make"], &[], &[]),
    // Expansions that cannot change what runs.
    ("find ~/a -size 1; find \"$dir\" -name \"$name\" -exec grep \"$text\" {} \\;", &["find", "grep"], &[], &[]),
    ("find . -newer \"$file\" -exec rm {} +; find src/*.d a -mtime +\"$days\" | wc", &["find", "rm", "wc"], &[], &[]),
    ("nice -n \"$n\" sudo -u \"$user\" rm", &["nice", "sudo", "rm"], &[], &[]),
    ("export A=$(date) B=\"$x\" C; declare -r d=$x; local 'e'=\"$y\"; readonly -a f=(\"$@\")", &["date"], &[], &[]),
    ("while IFS= read -r -d $'\\0' f; do unset f; done; read -rp \"$prompt\" name; read -a list", &[], &[], &[]),
    ("printf '%s' $x; printf -v line \"%s\" \"$x\"; printf \"$x\"; printf \"$a\" \"$b\"; printf -- $x", &[], &[], &[]),
    ("sleep 1 & pid=$!; kill $pid; wait $pid; jobs -p; let i=$i+1; getopts ab: flag \"$@\"", &["sleep"], &[], &[]),
    (": {fd}> log; i=$((i + 1)); echo \"PATH=$PATH\"", &[], &["log"], &[]),
    ("bash -c 'if [ -n \"$(ls)\" ]; then make; fi'", &["bash", "ls", "make"], &[], &[]),
];

#[test]
fn the_programs_and_the_files_of_a_command_are_found() {
    for (command, programs, writes, reads) in CASES {
        let explanation = explain(command);
        let Explanation { doubts, programs: runs, writes: written, reads: read, .. } = &explanation;
        assert_eq!(doubts, &Vec::<String>::new(), "{command:?}");
        assert_eq!(runs, programs, "{command:?}");
        assert_eq!(written, writes, "{command:?}");
        assert_eq!(read, reads, "{command:?}");
    }
}

#[test]
fn a_command_whose_text_does_not_tell_what_it_runs_gives_a_doubt() {
    let cases = [
        ("$CC -o a a.c", "the name of a program comes from `$CC`"),
        ("$(which git) status", "the name of a program comes from `$(which git)`"),
        ("`which git` status", "the name of a program comes from ``which git``"),
        ("\"$x\"it", "the name of a program comes from `\"$x\"it`"),
        ("./b* a", "the name of a program comes from `./b*`"),
        ("{rm,-rf,a}", "the name of a program comes from `{rm,-rf,a}`"),
        ("~/a", "the name of a program comes from `~/a`"),
        ("$'\\x72m' a", "the name of a program comes from `$'\\x72m'`"),
        ("'a b' c", "the name `a b` is not the name of a program"),
        ("env $x rm", "what env runs comes from `$x`"),
        ("env -S 'rm a'", "what `-S` of env means"),
        ("sudo -i", "what `-i` of sudo means"),
        ("ls | xargs -I{} {} a", "the name of a program comes from `{}`"),
        ("find . -exec {} \\;", "the name of a program comes from `{}`"),
        ("find . -exec sh -c 'rm {}' \\;", "the arguments of sh come from `'rm {}'`"),
        ("ls | xargs sh -c", "the arguments of sh come from `the input of xargs`"),
        ("ls | parallel gzip", "what parallel runs"),
        ("eval \"rm a\"", "`eval` runs text as a command"),
        ("source env.sh", "it runs the commands of another file"),
        (". ./env.sh", "it runs the commands of another file"),
        ("builtin eval x", "`eval` runs text as a command"),
        ("alias ls='rm a'", "it gives names another meaning"),
        ("hash -p /tmp/a git", "it gives names another meaning"),
        ("shopt -s extglob", "`shopt` changes how the shell reads commands"),
        ("trap \"$x\" EXIT", "`trap` runs what `\"$x\"` expands to"),
        ("curl a | sh", "sh reads its commands while it runs"),
        ("bash -c \"$x\"", "the arguments of bash come from `\"$x\"`"),
        ("PATH=/tmp:$PATH git pull", "it sets PATH, which changes what programs run"),
        ("export LD_PRELOAD=a.so", "it sets LD_PRELOAD, which changes what programs run"),
        ("env BASH_ENV=a bash b", "it sets BASH_ENV, which changes what programs run"),
        (": ${PATH:=/tmp}", "it sets PATH, which changes what programs run"),
        ("echo ${x@P}", "it expands a variable as a prompt"),
        ("x='a[$(id)]'; echo $((x))", "an evaluation can run a substitution within quotes"),
        ("( (rm a) )", "whether parentheses are arithmetic"),
        ("((rm a); (rm b))", "whether parentheses are arithmetic"),
        ("echo `a \\`b\\``", "where a quote or a substitution ends"),
        ("echo >&\"$x\"", "it redirects to the value of an expansion"),
        ("a=()b c", "where an array ends"),
        ("coproc a", "what `coproc` runs"),
        ("echo \"${x:-'}\"; rm a; echo \"'}\"", "where a quote or a substitution ends"),
        ("echo \"$(echo a  #)\nrm x\n)\" \"", "where a quote or a substitution ends"),
        ("cat <<EOF\na\\\nEOF\nb\nEOF\n", "where a quote or a substitution ends"),
        ("cat <<EOF $(id)\nEOF\n", "a substitution is on the line of a here-document"),
        ("echo \\$'a\\'; rm a; echo '", "where a quote or a substitution ends"),
        ("echo $$'a'; rm a", "where a quote or a substitution ends"),
        ("echo 'a", "where a quote or a substitution ends"),
        ("echo $(ls", "where a quote or a substitution ends"),
        ("cat <<EOF\na", "where a quote or a substitution ends"),
        ("if true", "its text is not valid: syntax error at end of input"),
        ("ls )", "its text is not valid: syntax error at line 1 col 4"),
        ("99999999999> a", "the number of a redirection is too large"),
        ("a[${x:-~99999999999999999999}]=1", "a number after `~` is too large"),
    ];
    for (command, doubt) in cases {
        let explanation = explain(command);
        assert!(explanation.doubts.iter().any(|found| found == doubt), "{command:?}: {:?}", explanation.doubts);
    }
}

const PATH_SET: &str = "it sets PATH, which changes what programs run";
const EXPANSION: &str = "an expansion can set a variable that changes what programs run";
const EVALUATION: &str = "an evaluation can run a substitution within quotes";

/// Commands that can run something which their text does not show, and the doubt about each.
const HIDING: &[(&str, &str)] = &[
    // Builtins.
    ("mapfile '-C' 'rm x' a", "what `mapfile` runs for each line"),
    ("mapfile -tC 'rm x' a", "what `mapfile` runs for each line"),
    ("readarray -c 1 -C\"rm x\" a", "what `readarray` runs for each line"),
    ("trap -- \"$x\" EXIT", "`trap` runs what `\"$x\"` expands to"),
    ("trap -- '-; rm a' EXIT", "the name `-` is not the name of a program"),
    ("trap $x 'rm a' EXIT", "`trap` runs what `$x` expands to"),
    ("jobs -x rm a", "what `jobs -x` runs"),
    ("declare -n r=PATH; r=/tmp", "`declare -n` gives a variable another name"),
    ("local -rn 'r=PATH'", "`local -n` gives a variable another name"),
    ("declare -a 'x=($(rm a))'", "`declare` expands the text of an array"),
    ("declare -a x=$y", "`declare` expands the text of an array"),
    // Builtins that set variables.
    ("x=PATH=/tmp; export $x", "the variable that `export` changes comes from `$x`"),
    ("export \"$x\"=/tmp", "the variable that `export` changes comes from `\"$x\"=/tmp`"),
    ("export $(cat .env)", "the variable that `export` changes comes from `$(cat .env)`"),
    ("export \"A=1$@\"", "the variable that `export` changes comes from `\"A=1$@\"`"),
    ("export {PATH,x}=a", "the variable that `export` changes comes from `{PATH,x}=a`"),
    ("x='a PATH=/tmp'; \\export A=$x", "the variable that `export` changes comes from `A=$x`"),
    ("x='a PATH=/tmp'; command export A=$x", "the variable that `export` changes comes from `A=$x`"),
    ("x='a PATH=/tmp'; export 'A'=$x", "the variable that `export` changes comes from `'A'=$x`"),
    ("export \"PATH\"=/tmp", PATH_SET),
    ("typeset 'PATH=/tmp'", PATH_SET),
    ("readonly PA''TH=/tmp", PATH_SET),
    ("read PATH", PATH_SET),
    ("read -ra \"PATH\"", PATH_SET),
    ("read -raPATH", PATH_SET),
    ("read \"$x\"", "the variable that `read` changes comes from `\"$x\"`"),
    ("read -p $x y", "the variable that `read` changes comes from `$x`"),
    ("printf -v PATH /tmp", PATH_SET),
    ("printf -v'PATH' /tmp", PATH_SET),
    ("printf -v a -v 'PATH[0]' /tmp", PATH_SET),
    ("printf -v \"$x\" /tmp", "the variable that `printf` changes comes from `\"$x\"`"),
    ("x=-vPATH; printf \"$x\" /tmp", EXPANSION),
    ("x='-vPATH /tmp'; printf $x", EXPANSION),
    ("mapfile -t PATH < a", PATH_SET),
    ("getopts ab \"PATH\"", PATH_SET),
    ("getopts ab $x", "the variable that `getopts` changes comes from `$x`"),
    ("wait -n -p PATH", PATH_SET),
    ("x='-p PATH'; wait $x", EXPANSION),
    ("unset PATH", "it removes PATH, which changes what programs run"),
    ("unset -v \"$x\"", "the variable that `unset` changes comes from `\"$x\"`"),
    ("let PATH=5", PATH_SET),
    ("let 'x = 1, PATH = 5'", PATH_SET),
    ("x=PATH=5; let $x", EXPANSION),
    ("((PATH = 5))", PATH_SET),
    ("echo $((PATH += 5))", PATH_SET),
    ("a[PATH=5]=1", PATH_SET),
    ("echo ${x:PATH=5}", PATH_SET),
    ("for PATH in a; do b; done", PATH_SET),
    ("exec {PATH}> a", PATH_SET),
    (": {PATH}< a", PATH_SET),
    ("coproc PATH { a; }", "what `coproc` runs"),
    ("BASH_CMDS[git]=/tmp/a", "it sets BASH_CMDS, which changes what programs run"),
    (": ${BASH_CMDS[git]:=/tmp/a}", "it sets BASH_CMDS, which changes what programs run"),
    (": ${!x:=/tmp}", "which variable `${!x:=/tmp}` sets"),
    // Values that are evaluated.
    ("x='a[1 + $(id)]'; ((x))", EVALUATION),
    ("x='a[$(id)]'; echo ${!x}", EVALUATION),
    ("x='a[$(id)]'; echo ${#b[x]}", EVALUATION),
    ("wait -n -p 'a[$(id)]'", EVALUATION),
    ("y='($(id))'; declare -a x; declare x=\"$y\"", EVALUATION),
    // Shells.
    ("bash -co \"$x\" ls", "the arguments of bash come from `\"$x\"`"),
    ("bash -O extglob -c ls", "`bash -O` changes how the shell reads commands"),
    ("zsh -opipefail -c ls", "what `-opipefail` of zsh means"),
    // Launchers.
    ("nice -n $x ls", "what nice runs comes from `$x`"),
    ("timeout -k \"$@\" 5 ls", "what timeout runs comes from `\"$@\"`"),
    ("env -- PATH=/tmp ls", PATH_SET),
    ("env 'BASH_FUNC_git%%=() { rm a; }' bash a", "it sets BASH_FUNC_git%%, which changes what programs run"),
    ("'X=1' ls", "the name `X=1` is not the name of a program"),
    ("time -- ls", "the name `--` is not the name of a program"),
    ("sudo -h rm ls", "what `-h` of sudo means"),
    ("strace -o '|rm a' ls", "what `strace -o` runs"),
    ("chroot /", "chroot starts a shell"),
    ("ls | xargs --replace {} a", "the name of a program comes from `{}`"),
    ("ls | xargs -0I'{}' {} a", "the name of a program comes from `{}`"),
    ("ls | xargs -I \"$x\" rm a", "what xargs replaces comes from `\"$x\"`"),
    ("ls | xargs env", "what env runs comes from `the input of xargs`"),
    ("ls | xargs -I{} -n2 nice", "what nice runs comes from `the input of xargs`"),
    ("ls | xargs find", "what find runs comes from `the input of xargs`"),
    // `find`.
    ("x=-exec; find . $x rm {} \\;", "what find runs comes from `$x`"),
    ("find . \"$x\" rm {} \\;", "what find runs comes from `\"$x\"`"),
    ("find . -\"$x\" rm {} \\;", "what find runs comes from `-\"$x\"`"),
    ("find \"$x\" \"$y\" -exec ls {} \\;", "what find runs comes from `\"$x\"`"),
    ("find \"$@\"", "what find runs comes from `\"$@\"`"),
    ("find *", "what find runs comes from `*`"),
    ("find . -exec ls $x {} \\;", "what find runs comes from `$x`"),
    ("find . -exec ls \"$x\" \"$y\" rm \\;", "what find runs comes from `\"$x\"`"),
    ("find . -exec ls \"$x\" -exec rm {} \\;", "what find runs comes from `\"$x\"`"),
    ("find . '-exec' env {} +", "what env runs comes from `{}`"),
];

#[test]
fn a_word_counts_without_its_quotes_and_an_expansion_that_can_change_what_runs_gives_a_doubt() {
    for (command, doubt) in HIDING {
        let explanation = explain(command);
        assert!(explanation.doubts.iter().any(|found| found == doubt), "{command:?}: {:?}", explanation.doubts);
    }
    for command in ["select PATH in a; do b; done", "{ a; } {PATH}> b"] {
        assert!(!explain(command).doubts.is_empty(), "{command:?}");
    }
}

/// A guest has 1 MiB for its own stack, and the engine 512 KiB for the frames of its functions.
#[test]
fn a_deep_text_fits_the_stack() {
    const STACK_BYTES: usize = 448 * 1024;
    let nested = |open: &str, inner: &str, close: &str, depth: usize| open.repeat(depth) + inner + &close.repeat(depth);
    let texts = [
        (nested("{ ", "ls", "; }", 24), true),
        (nested("{ ", "ls", "; }", 25), false),
        (nested("if ", "ls", "; then a; fi", 24), true),
        (nested("if a; then ", "ls", "; fi", 25), false),
        (nested("for x in a; do ", "ls", "; done", 24), true),
        (nested("case x in x) ", "ls", ";; esac", 6), true),
        (nested("case x in x) ", "ls", " esac", 7), false),
        (nested("f() { ", "ls", "; }", 24), true),
        (nested("echo $(", "ls", ")", 7), true),
        (nested("echo $(", "ls", ")", 8), false),
        (nested("echo \"a$(", "ls", ")\"", 7), true),
        (nested("echo $(", &nested("{ ", "ls", "; }", 24), ")", 7), true),
        (nested("$(", "ls", ")", 5000), false),
        (nested("\"${x:-", "ls", "}\"", 5000), false),
        (nested("(", "ls", ")", 5000), false),
        ("((".repeat(5000), false),
        ("env ".repeat(15) + "ls", true),
        ("env ".repeat(20_000) + "ls", false),
        ("find . -exec ".repeat(5000) + "ls", false),
    ];
    let check = move || {
        for (text, is_clear) in texts {
            assert_eq!(explain(&text).doubts.is_empty(), is_clear, "{}", super::explanation::short(&text));
        }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(check).unwrap().join().unwrap();
}

#[test]
fn a_shell_of_its_own_is_read_like_a_command() {
    let shell = |arguments: &[&str], stdin: Option<&str>| {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let Explanation { programs, doubts, .. } = explain_shell(&arguments, stdin);
        (programs.join(" "), doubts.join("; "))
    };
    let answer = |programs: &str, doubts: &str| (programs.to_owned(), doubts.to_owned());
    assert_eq!(shell(&["-c", "git $x"], None), answer("git", ""));
    assert_eq!(shell(&["-eu", "script.sh"], Some("data")), answer("", ""));
    assert_eq!(shell(&["-s", "a"], Some("ls")), answer("ls", ""));
    assert_eq!(shell(&[], Some("ls | wc")), answer("ls wc", ""));
    assert_eq!(shell(&[], None), answer("", "sh reads its commands while it runs"));
    assert_eq!(shell(&["--rcfile", "a", "-i"], None), answer("", "what `--rcfile` of sh means"));
}

#[test]
fn a_doubt_names_what_is_known() {
    let text = "f() { git pull; }; f | sed s/a/b/ > out.txt; $x < in";
    let doubt = "cannot tell what this command runs: the name of a program comes from `$x`. \
                 It runs: git, f (a function), sed; writes to: out.txt; reads: in";
    assert_eq!(explain(text).doubt().as_deref(), Some(doubt));
    let doubt = "cannot tell what this command runs: the name of a program comes from `$x`; \
                 and the name of a program comes from `$y`";
    assert_eq!(explain("$x; $y").doubt().as_deref(), Some(doubt));
    assert_eq!(explain("git status").doubt(), None);

    let many = (0..20).map(|number| format!("p{number}\n")).collect::<String>() + "$x";
    assert!(explain(&many).doubt().is_some_and(|doubt| doubt.ends_with("p11 and 8 more")));
    let long = format!("${}", "x".repeat(500));
    assert!(explain(&long).doubt().is_some_and(|doubt| doubt.len() < 200 && doubt.ends_with("x…`")));
}

/// Pieces of commands. Put together at random, most of them are not valid.
const PIECES: &[&str] = &[
    "ls",
    "rm ",
    " ",
    "\n",
    ";",
    "&&",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "}",
    "$(",
    "\"",
    "'",
    "`",
    "\\",
    "$'",
    "${x:-",
    "$((",
    "))",
    "((",
    "#",
    " # ",
    "<<EOF",
    "<<'EOF'",
    "\nEOF\n",
    "<<-E",
    "\tE\n",
    "if ls; then ",
    "; fi",
    "case x in ",
    "x) ",
    ";; ",
    "esac",
    "f() { ",
    "; }",
    "[[ ",
    " ]]",
    "x=",
    "a=(",
    "a[1]=",
    "$x",
    "<(",
    "<<<",
    " > o ",
    "2>&1",
    "9999999999>",
    "~+99999999999999999999",
    "{1..99999999999999999999}",
    "$[",
    "@(a|b)",
    "\u{202e}",
    "é",
    "\0",
    "coproc ",
    "select ",
];

#[test]
fn no_text_makes_the_reader_panic_and_an_invalid_text_gives_a_doubt() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or_default() % below
    };
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    let mut clear = 0;
    for _ in 0..20_000 {
        let length = 1 + random(14);
        let text: String = (0..length).map(|_| PIECES[random(PIECES.len())]).collect();
        let explanation = explain(&text);
        if !explanation.doubts.is_empty() {
            continue;
        }
        clear += 1;
        assert!(extent::is_complete(&text) && limit::text_problem(&text).is_none(), "{text:?}");
        let tokens = uncached_tokenize_str(&text, &options.tokenizer_options());
        let tokens = tokens.unwrap_or_else(|error| panic!("{text:?} is not valid: {error}"));
        assert!(parse_tokens(&tokens, &options).is_ok(), "{text:?} is not valid");
    }
    assert!(clear > 100, "{clear} texts gave no doubt");
}
