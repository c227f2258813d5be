//! Links at the place of a narrowed grant, on the way to it and below it.

use crate::filesystem::escape::{attempts, following};
use crate::filesystem::lab::{Grant, SECRET};
use crate::filesystem::narrow::house;
use crate::filesystem::race::{LOOKS, ROUNDS_MAX, Swapper};
use serde_json::json;
use std::fs;

/// Below the place, a link leads where it does in a directory of its own: nowhere out of it.
#[tokio::test]
async fn no_link_below_the_place_leads_out_of_it() {
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

/// A link at the place or on the way to it is not followed, wherever it leads.
#[tokio::test]
async fn no_link_is_followed_to_the_place() {
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

/// The place, or the way to it, turns into a link and back all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_that_becomes_a_link_is_not_followed() {
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
        // A busy machine may let only one of the two have its turn for a while.
        let (mut inside, mut outside) = (false, false);
        for _ in 0..ROUNDS_MAX {
            // The secret itself is looked for in every reply, and stands where it stood.
            let all = lab.take(looks.clone()).await[0]["all"].to_string();
            inside |= all.contains("inside");
            outside |= all.contains("Err");
            // Of a place that is a directory, what was opened first is what stays.
            if inside && (outside || place == "house/room") {
                break;
            }
        }
        drop(swapper);
        assert!(inside && (outside || place == "house/room"), "{place}: the race was not run");
        for secret in ["house/private/secret.txt", "house/private/sub/secret.txt"] {
            let stat = fs::metadata(lab.path(secret)).unwrap();
            assert_eq!(fs::read_to_string(lab.path(secret)).unwrap(), SECRET, "{place}");
            assert!(stat.modified().unwrap().elapsed().unwrap().as_secs() < 3600, "{place}: its time was set");
        }
    }
}
