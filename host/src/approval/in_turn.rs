//! Several approvers, one after the other.

use std::sync::Arc;

use async_trait::async_trait;

use crate::gate::{Answer, ApprovalRequest, Approver};

/// Asks each in order until one gives another answer than [`Answer::Nobody`]. Without any: nobody.
#[derive(Clone, Debug, Default)]
pub struct InTurn(pub Vec<Arc<dyn Approver>>);

#[async_trait]
impl Approver for InTurn {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        for approver in &self.0 {
            let answer = approver.ask(request).await;
            if answer != Answer::Nobody {
                return answer;
            }
        }
        Answer::Nobody
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::Fixed;
    use crate::approval::render::tests::request;

    #[tokio::test]
    async fn the_first_answer_counts() {
        let request = request("Write", serde_json::json!({}));
        assert_eq!(InTurn::default().ask(&request).await, Answer::Nobody);
        let asked = InTurn(vec![
            Arc::new(Fixed::nobody()),
            Arc::new(Fixed::refuse("the second", None)),
            Arc::new(Fixed::approve("the third")),
        ]);
        let refused = Answer::Refused {
            by: "the second".to_owned(),
            message: None,
        };
        assert_eq!(asked.ask(&request).await, refused);
    }
}
