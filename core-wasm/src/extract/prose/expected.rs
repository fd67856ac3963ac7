//! What an answer only expects of a deployment that nobody has seen end.

use crate::text;

/// Words of a deployment.
const DEPLOYMENTS: [&str; 8] = ["deploy", "workflow", "pipeline", "github actions", "rollout", "배포", "デプロイ", "部署"];

/// Words with which a sentence says that it is under way or to come.
const TO_COME: [&str; 27] = [
    "will be live",
    "will go live",
    "will complete",
    "will finish",
    "will deploy",
    "will pick",
    "will trigger",
    "will be deployed",
    "should complete",
    "should finish",
    "should deploy",
    "should pick",
    "should trigger",
    "should be live",
    "is running",
    "is now running",
    "is now deploying",
    "is deploying",
    "in progress",
    "being deployed",
    "once deployed",
    "after deployment",
    "after the deployment",
    "once the deployment",
    "자동으로 배포",
    "自動でデプロイ",
    "自动部署",
];

/// Words of a sentence that says what happens always, or only in some case.
const GENERAL: [&str; 8] = ["if", "every", "each", "always", "whenever", "next time", "for each", "you'll need to"];

/// Returns the sentence of an answer that says that a deployment is under way or is to come.
pub(in crate::extract) fn expected_deployment(answer: &str) -> Option<String> {
    const CHARS: std::ops::Range<usize> = 16..300;
    text::sentences(answer).into_iter().find(|sentence| {
        let lower = text::lower(sentence);
        text::contains_any(&lower, &DEPLOYMENTS)
            && text::contains_any(&lower, &TO_COME)
            && !text::contains_any_words(&lower, &GENERAL)
            && !sentence.ends_with(['?', '？', ':', '：'])
            && CHARS.contains(&sentence.chars().count())
    })
}

/// Returns whether a sentence says nothing but that something is deployed: "Fixed and deployed!".
pub(in crate::extract) fn claims_deployment(sentence: &str) -> bool {
    const MAX_WORDS: usize = 4;
    sentence.split_whitespace().count() <= MAX_WORDS && text::contains_words(&text::lower(sentence), "deployed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_that_nobody_has_seen() {
        let running = "The deployment is running now - the till will be grey in two minutes.";
        assert_eq!(expected_deployment(&format!("The till is grey. {running}")).as_deref(), Some(running));
        let awaited = "The new till is pushed and should deploy automatically.";
        assert_eq!(expected_deployment(awaited).as_deref(), Some(awaited));
        for said in [
            "The workflow deployed the till.",
            "If the workflow fails, it will deploy the old till.",
            "The workflow will deploy the till at every push.",
            "Is the deployment in progress?",
            "The drawer is running.",
        ] {
            assert_eq!(expected_deployment(said), None, "{said}");
        }
        assert!(claims_deployment("Fixed and deployed!") && !claims_deployment("Deployed the till of the shop."));
    }
}
