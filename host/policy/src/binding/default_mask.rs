//! The default masks: files in a read-write directory that a guest cannot change unless the policy lifts the mask.
//! Other programs run or obey these files when a person next works in the directory.

use std::fmt;

use crate::mask::Mask;

/// A default mask. Its name is the one that a policy uses to lift it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultMask {
    /// Programs that git runs.
    GitHooks,
    /// Settings of git, which name programs to run, and the files that point git to other settings.
    GitConfig,
    /// Workflows that a forge runs with its secrets.
    GitHub,
    /// A policy of this host.
    Policy,
    /// Environment variables of programs, often with secrets.
    Environment,
    /// Tasks and settings that editors run.
    Editors,
    /// Servers, hooks and permissions of coding agents.
    Agents,
    /// Keys that give access to this machine.
    Ssh,
    /// Scripts that shells run at start-up.
    Shells,
}

impl DefaultMask {
    /// All default masks.
    pub const ALL: [Self; 9] = [
        Self::GitHooks,
        Self::GitConfig,
        Self::GitHub,
        Self::Policy,
        Self::Environment,
        Self::Editors,
        Self::Agents,
        Self::Ssh,
        Self::Shells,
    ];

    /// Returns the name by which a policy lifts it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GitHooks => ".git/hooks",
            Self::GitConfig => ".git/config",
            Self::GitHub => ".github",
            Self::Policy => "portcullis.toml",
            Self::Environment => ".env",
            Self::Editors => "editors",
            Self::Agents => "agents",
            Self::Ssh => ".ssh",
            Self::Shells => "shells",
        }
    }

    /// Returns the pattern of its places, at every depth.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::GitHooks => "**/.git/{hooks,modules/**/hooks}",
            // `modules` has the git directories of submodules, and `worktrees` those of linked worktrees. `commondir`
            // names the directory whose `config` git reads.
            Self::GitConfig => {
                "**/.git/{{config,config.worktree,commondir},modules/**/{config,commondir},worktrees/*/{config.worktree,commondir}}"
            }
            Self::GitHub => "**/.github",
            Self::Policy => "**/portcullis.toml",
            Self::Environment => "**/.env*",
            Self::Editors => "**/{.vscode,.zed,.idea,.vimrc,.exrc,.nvimrc}",
            Self::Agents => "**/{.mcp.json,.claude,.cursor,.gemini,.codex,.opencode,opencode.json,opencode.jsonc}",
            Self::Ssh => "**/.ssh",
            Self::Shells => {
                "**/{.profile,.bashrc,.bash_profile,.bash_login,.bash_logout,.zshrc,.zshenv,.zprofile,.zlogin,.zlogout}"
            }
        }
    }

    /// Returns the mask of the built-in pattern. A test shows that every pattern is valid.
    pub(super) fn masks(self) -> Option<Mask> {
        Mask::new(self.pattern()).ok()
    }
}

impl fmt::Display for DefaultMask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_mask() {
        assert!(DefaultMask::ALL.into_iter().all(|mask| mask.masks().is_some()));
    }
}
