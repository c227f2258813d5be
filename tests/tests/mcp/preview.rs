//! The preview of a call's changes that a client's user sees.

use crate::asking::client::{Client, Era};
use crate::asking::office::Office;
use serde_json::json;

/// The plugin's preview is shown as its claim, below the arguments. An approval does not count once the file has
/// changed.
#[tokio::test]
async fn an_elicited_request_shows_a_preview_as_the_plugins_claim() {
    let office = Office::with_files().await;
    let mut client = Client::open(&office.server, Era::Legacy, json!({ "elicitation": {} })).await;
    let write = json!({ "path": "notes.txt", "content": "mine\n" });
    for changes in [false, true] {
        office.write_notes("one\n");
        let call = client.begin_call("files__write", write.clone()).await;
        let asked = client.asked().await;
        let message = asked["params"]["message"].as_str().unwrap();
        let claim = "\nWhat the call would change, as the plugin claims (the call runs with the arguments above):\n    \
                     @@ files computes that this call would change 1 file @@\n    --- a/notes.txt\n    \
                     +++ b/notes.txt\n    @@ -1 +1 @@\n    -one\n    +mine\n";
        let (arguments, claimed) = (message.find("\nArguments: {"), message.find(claim));
        assert!(arguments.is_some() && arguments < claimed, "{message}");
        if changes {
            office.write_notes("two\n");
        }
        let yes = json!({ "action": "accept", "content": {} });
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": yes })).await;
        let result = client.response(call).await;
        assert_eq!(result["isError"] == true, changes, "{result}");
        assert_eq!(
            result["content"][0]["text"].as_str().unwrap().contains("the file has changed since the user was asked"),
            changes,
            "{result}"
        );
        assert_eq!(office.notes(), if changes { ["two"] } else { ["mine"] });
    }
}
