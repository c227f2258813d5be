//! Links at the narrowed path, in its parents and below it.

use crate::filesystem::escape::{attempts, following};
use crate::filesystem::lab::{Grant, SECRET};
use crate::filesystem::narrow::house;
use crate::filesystem::race::{ROUNDS_MAX, Swapper};
use serde_json::json;
use std::fs;

/// How often a guest looks in one round. There are more rounds until the race has happened.
const LOOKS: u32 = 1000;

/// Below the narrowed path, a link behaves as in a granted directory: it does not lead out.
#[tokio::test]
async fn no_link_below_the_narrowed_path_leads_out() {
    for grant in Grant::ALL {
        let lab = house(grant, "house/room").await;
        for link in [
            "out",
            "out/",
            "out/secret.txt",
            "out/sub/secret.txt",
            "out/planted",
            "out-file",
            "up",
            "up/",
            "up/private/secret.txt",
            "sub/up/secret.txt",
            "sub/../out/secret.txt",
            "sub/up/../secret.txt",
        ] {
            lab.refuses(following(&format!("house/room/{link}"))).await;
        }
        let results = lab
            .take(json!([
                {"op": "open-at", "path": "house/room/near", "keep": "f", "flags": ["read", "follow"]},
                {"op": "read", "on": "f"},
            ]))
            .await;
        assert_eq!(results[1]["ok"], "inside", "{results:?}");
    }
}

/// A link at the narrowed path or in its parents is not followed, whatever its target.
#[tokio::test]
async fn no_link_to_the_narrowed_path_is_followed() {
    for grant in Grant::ALL {
        for place in [
            "house/link",
            "house/link-file",
            "house/link-room",
            "house/to-nothing",
            "house/link/secret.txt",
            "house/link-room/note.txt",
            "way/room",
            "way/room/note.txt",
            "way/new.txt",
            "way-out/secret.txt",
        ] {
            let lab = house(grant, place).await;
            for path in [place.to_owned(), format!("{place}/"), format!("{place}/.")] {
                lab.refuses(following(&path)).await;
            }
            for path in [format!("{place}/secret.txt"), format!("{place}/planted"), format!("{place}/sub/secret.txt")] {
                lab.refuses(attempts(&path)).await;
            }
        }
    }
}

/// The path, or one of its parents, alternates between a link and a directory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_that_becomes_a_link_is_not_followed() {
    for (place, one, other) in [
        ("house/room/secret.txt", "house/room", "house/link"),
        ("house/room/note.txt", "house/room/note.txt", "house/link-file"),
        ("house/room", "house/room", "house/link"),
    ] {
        let lab = house(Grant::ReadWrite, place).await;
        fs::write(lab.path("house/room/secret.txt"), "inside").unwrap();
        let file = if place == "house/room" { "house/room/secret.txt" } else { place };
        let swapper = Swapper::start(lab.path(one), lab.path(other));
        let path = format!("/workspace/{file}");
        let all = ["follow", "go-on"];
        let looks = json!([
            {"op": "std-read", "path": path, "flags": all, "times": LOOKS},
            {"op": "read-in", "path": "house", "to": file.trim_start_matches("house/"), "flags": all, "times": LOOKS},
            {"op": "std-write", "path": path, "text": "inside", "flags": all, "times": LOOKS},
            {"op": "set-times-at", "path": file, "flags": all, "number": 1, "times": LOOKS},
            {"op": "open-at", "path": file, "keep": "f", "flags": ["write", "truncate", "follow", "go-on"],
             "times": LOOKS},
        ]);
        // On a busy machine, only one of the two may run for a while.
        let (mut inside, mut outside) = (false, false);
        for _ in 0..ROUNDS_MAX {
            // `run` looks for the secret in every reply, and the secret must be unchanged.
            let all = lab.take(looks.clone()).await[0]["all"].to_string();
            inside |= all.contains("inside");
            outside |= all.contains("Err");
            // If the path is a directory, the one that was opened first stays.
            if inside && (outside || place == "house/room") {
                break;
            }
        }
        drop(swapper);
        assert!(inside && (outside || place == "house/room"), "{place}: the race did not happen");
        for secret in ["house/private/secret.txt", "house/private/sub/secret.txt"] {
            let stat = fs::metadata(lab.path(secret)).unwrap();
            assert_eq!(fs::read_to_string(lab.path(secret)).unwrap(), SECRET, "{place}");
            assert!(stat.modified().unwrap().elapsed().unwrap().as_secs() < 3600, "{place}: its time was set");
        }
    }
}
