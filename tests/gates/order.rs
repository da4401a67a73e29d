//! The order of the gates: of two that would refuse, the earlier one is named, and the later one never hears of the call.

use toolgate::approval::Fixed;
use toolgate::gate::HookReply;
use toolgate::model::Gate;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::native::{Replying, denial, last_record};

/// Gates that can refuse, in the order of the chain.
const REFUSING: [Gate; 6] = [
    Gate::Parse,
    Gate::Resolve,
    Gate::Permission,
    Gate::Schema,
    Gate::PreHooks,
    Gate::Approval,
];

/// A call of Write at which exactly these gates have something to refuse.
struct Call<'a> {
    faults: &'a [Gate],
}

impl Call<'_> {
    fn faulty(&self, gate: Gate) -> bool {
        self.faults.contains(&gate)
    }

    async fn host(&self, hook: &Replying) -> TestHost {
        let setup = Setup::default().deny(&["Write(locked/**)"]);
        let nobody = self.faulty(Gate::Approval);
        TestHost::with(Scratch::new(), setup, |builder| {
            let approver = if nobody {
                Fixed::nobody()
            } else {
                Fixed::approve("the test")
            };
            builder.pre_hook(hook.clone()).approver(approver)
        })
        .await
    }

    fn tool(&self) -> &'static str {
        if self.faulty(Gate::Resolve) {
            "Writ"
        } else {
            "Write"
        }
    }

    fn input(&self, scratch: &Scratch) -> String {
        let path = if self.faulty(Gate::Permission) {
            "/ws/locked/a.txt"
        } else {
            "/ws/a.txt"
        };
        let undeclared = if self.faulty(Gate::Schema) {
            r#","undeclared":1"#
        } else {
            ""
        };
        let twice = if self.faulty(Gate::Parse) {
            r#","content":"twice""#
        } else {
            ""
        };
        scratch.mapped(&format!(
            r#"{{"file_path":"{path}","content":"c"{undeclared}{twice}}}"#
        ))
    }
}

/// Makes the call and says which gate refused it, if one did.
async fn refused_by(faults: &[Gate]) -> Option<Gate> {
    let call = Call { faults };
    let hook = if call.faulty(Gate::PreHooks) {
        Replying::denying()
    } else {
        Replying::new("silent", HookReply::Nothing)
    };
    let host = call.host(&hook).await;
    let outcome = host.call_raw(call.tool(), &call.input(&host.scratch)).await;
    let path = host.scratch.ws.join("a.txt");
    assert_eq!(host.journal.records().len(), 1, "{faults:?}: one record");
    if faults.is_empty() {
        assert_eq!(std::fs::read_to_string(path).expect("it was written"), "c");
        return None;
    }
    assert!(
        !path.exists() && !host.scratch.ws.join("locked").exists(),
        "{faults:?}: it was written"
    );
    let gate = denial(&outcome).gate;
    assert_eq!(
        hook.inputs().is_empty(),
        gate < Gate::PreHooks,
        "{faults:?}: whether the hook heard of it"
    );
    let record = last_record(&host);
    let last = record["gates"]
        .as_array()
        .and_then(|steps| steps.last())
        .expect("a step")
        .clone();
    assert_eq!(
        last["gate"],
        gate.as_str(),
        "{faults:?}: the last word is the refusing gate's"
    );
    assert_eq!(last["note"], "denied");
    assert_eq!(record["detail"]["gate"], gate.as_str());
    Some(gate)
}

#[tokio::test]
async fn a_call_without_faults_runs() {
    assert_eq!(refused_by(&[]).await, None);
}

#[tokio::test]
async fn each_gate_refuses_by_itself() {
    for gate in REFUSING {
        assert_eq!(refused_by(&[gate]).await, Some(gate));
    }
}

#[tokio::test]
async fn of_two_gates_the_earlier_one_refuses() {
    for (index, earlier) in REFUSING.into_iter().enumerate() {
        for later in &REFUSING[index + 1..] {
            assert_eq!(
                refused_by(&[earlier, *later]).await,
                Some(earlier),
                "{earlier} and {later}"
            );
        }
    }
}

#[tokio::test]
async fn with_every_fault_at_once_the_first_gate_refuses() {
    for index in 0..REFUSING.len() {
        assert_eq!(refused_by(&REFUSING[index..]).await, Some(REFUSING[index]));
    }
}
