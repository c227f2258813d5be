//! The catalog itself: a real host loads every tool.

use portcullis_tests::botocore;

#[tokio::test]
async fn a_thousand_third_party_tools_all_load() {
    let host = botocore::site().open("").await;
    let catalog = host.catalog();
    let refused = catalog.refused().iter().map(|refused| format!("{}: {}", refused.file, refused.error));
    assert_eq!(refused.collect::<Vec<_>>(), Vec::<String>::new());

    let others = || catalog.plugins().filter(|plugin| !plugin.is_standard());
    assert_eq!(others().count(), 30);
    assert_eq!(others().flat_map(|plugin| plugin.tools()).count(), botocore::TOOLS);

    // They look like handwritten tools: with descriptions, and with schemas for their arguments.
    let tools: Vec<_> = others().flat_map(|plugin| plugin.tools()).collect();
    assert!(tools.iter().all(|tool| !tool.description().is_empty()));
    let demanding = tools.iter().filter(|tool| tool.schema().document().get("required").is_some()).count();
    assert!(demanding > botocore::TOOLS / 2, "{demanding}");
    let put = tools.iter().find(|tool| tool.name().to_string() == "sqs.send_message").unwrap();
    assert!(put.description().starts_with("Delivers a message to the specified queue."), "{}", put.description());
    let schema = put.schema();
    assert_eq!(schema.document()["required"], serde_json::json!(["QueueUrl", "MessageBody"]));
    assert_eq!(schema.document()["properties"]["DelaySeconds"]["type"], "integer");
    assert_eq!(schema.mismatches(&serde_json::json!({ "QueueUrl": "q", "MessageBody": 4 })).len(), 1);
}
