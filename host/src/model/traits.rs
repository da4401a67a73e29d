//! Traits: the host's verdict on what a call of a tool may do, from the tool's claim, what the sandbox makes of it, and
//! who vouches for the rest.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Claim, Evidence, Ground, Grounds, Trust};

/// The side effect level: a ladder.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SideEffect {
    /// Changes nothing that outlives the call.
    ReadOnly,
    /// May change something.
    Mutating,
}

impl SideEffect {
    /// Whether a ceiling at this level lets a tool of `level` through.
    pub fn permits(self, level: Self) -> bool {
        level <= self
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Mutating => "mutating",
        }
    }
}

impl fmt::Display for SideEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether calls of a tool may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concurrency {
    /// Calls with different subjects may overlap.
    Shared,
    /// One call at a time.
    Exclusive,
}

impl Concurrency {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Exclusive => "exclusive",
        }
    }
}

/// The host's verdict, made once when a tool is registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Traits {
    /// The level.
    pub level: SideEffect,
    /// May overwrite or delete. Never set on a read-only tool.
    pub destructive: bool,
    /// Twice is once.
    pub idempotent: bool,
    /// Reaches what nobody here owns.
    pub open_world: bool,
    /// Whether calls may overlap.
    pub concurrency: Concurrency,
    /// Its view of files lets it make new files and directories, and change nothing that exists: the claim of a writing
    /// tool to be non-destructive, taken at its word.
    pub create_only: bool,
    /// What each trait rests on.
    pub grounds: Grounds,
    /// Where the verdict differs from the claim, one sentence each.
    pub reductions: Vec<String>,
}

/// The verdict on one trait.
struct Finding<T> {
    value: T,
    ground: Ground,
    reduction: Option<String>,
}

impl<T> Finding<T> {
    fn new(value: T, ground: Ground) -> Self {
        Self {
            value,
            ground,
            reduction: None,
        }
    }

    /// A claim that nothing shows: believed where somebody vouches for the tool, otherwise reduced.
    fn unproven(trust: Trust, claimed: T, cautious: T, why: impl FnOnce() -> String) -> Self {
        let ground = Ground::unproven(trust);
        match ground.stands() {
            true => Self::new(claimed, ground),
            false => Self {
                value: cautious,
                ground,
                reduction: Some(why()),
            },
        }
    }
}

impl Traits {
    /// Resolves a component's claim against the evidence. What the sandbox makes true is believed whoever says it, what it
    /// shows to be false is believed from nobody, and for the rest it takes somebody who vouches for the tool. A claim
    /// against oneself always stands.
    ///
    /// A component that claims read-only and asks for more has its whole claim void: it is mutating, destructive, not
    /// idempotent and exclusive, whoever vouches for it.
    pub fn resolve(claim: &Claim, evidence: &Evidence, trust: Trust) -> Self {
        let void = claim.level == SideEffect::ReadOnly && !evidence.beyond_reading().is_empty();
        let trust = if void { Trust::None } else { trust };
        let level = match (claim.level, void) {
            (SideEffect::ReadOnly, false) => Finding::new(claim.level, Ground::Verified),
            (SideEffect::ReadOnly, true) => Finding {
                value: SideEffect::Mutating,
                ground: Ground::NotBelieved,
                reduction: Some(format!(
                    "claims read-only, but asks for {}: treated as mutating, destructive, not idempotent and exclusive",
                    evidence.beyond_reading().join(" and ")
                )),
            },
            (SideEffect::Mutating, _) => Finding::new(claim.level, Ground::Admitted),
        };
        let destructive = destructive(claim, evidence, trust, void);
        let idempotent = idempotent(claim, trust, level.value);
        let open_world = open_world(claim, evidence, trust);
        let concurrency = concurrency(claim, trust, level.value);
        // Of a void claim one sentence says it all, but for what the level does not touch.
        let beside = [
            destructive.reduction,
            idempotent.reduction,
            concurrency.reduction,
        ];
        let beside = beside.into_iter().flatten().filter(|_| !void);
        let said_of_level = level.reduction.into_iter().chain(beside);
        Self {
            level: level.value,
            destructive: destructive.value,
            idempotent: idempotent.value,
            open_world: open_world.value,
            concurrency: concurrency.value,
            create_only: evidence.writes_files
                && claim.level == SideEffect::Mutating
                && !claim.destructive,
            grounds: Grounds {
                level: level.ground,
                destructive: destructive.ground,
                idempotent: idempotent.ground,
                open_world: open_world.ground,
                concurrency: concurrency.ground,
            },
            reductions: said_of_level.chain(open_world.reduction).collect(),
        }
    }
}

/// Read-only destroys nothing. A tool that asks to write files gets a view in which it can only create, so that it is
/// verified as far as its power ends with files.
fn destructive(claim: &Claim, evidence: &Evidence, trust: Trust, void: bool) -> Finding<bool> {
    let beside_files = evidence.powers_beside_files();
    match (claim.level, claim.destructive) {
        (SideEffect::ReadOnly, destructive) if !void => Finding {
            value: false,
            ground: Ground::Verified,
            reduction: destructive
                .then(|| "claims read-only and destructive, which cannot both be".to_owned()),
        },
        (_, true) => Finding::new(true, Ground::Admitted),
        (_, false) if void => Finding::new(true, Ground::NotBelieved),
        (_, false) if beside_files.is_empty() => Finding::new(false, Ground::Verified),
        (_, false) => Finding::unproven(trust, false, true, || {
            format!(
                "claims to be non-destructive, which nothing shows where it reaches {}: treated as destructive",
                beside_files.join(" and ")
            )
        }),
    }
}

fn idempotent(claim: &Claim, trust: Trust, level: SideEffect) -> Finding<bool> {
    match (claim.idempotent, level) {
        (false, _) => Finding::new(false, Ground::Admitted),
        (true, SideEffect::ReadOnly) => Finding::new(true, Ground::Verified),
        (true, SideEffect::Mutating) => Finding::unproven(trust, true, false, || {
            "claims to be idempotent, which nothing shows: treated as not idempotent".to_owned()
        }),
    }
}

/// Whoever dials reaches what nobody here owns, whoever says otherwise.
fn open_world(claim: &Claim, evidence: &Evidence, trust: Trust) -> Finding<bool> {
    match (claim.open_world, evidence.network, evidence.shell) {
        (true, _, _) => Finding::new(true, Ground::Admitted),
        (false, true, _) => Finding {
            value: true,
            ground: Ground::NotBelieved,
            reduction: Some(
                "claims to stay in the closed world, but asks for the network: treated as open-world"
                    .to_owned(),
            ),
        },
        (false, false, true) => Finding::unproven(trust, false, true, || {
            "claims to stay in the closed world, which nothing shows of its commands: treated as open-world"
                .to_owned()
        }),
        (false, false, false) => Finding::new(false, Ground::Verified),
    }
}

/// Calls that change nothing cannot be in each other's way.
fn concurrency(claim: &Claim, trust: Trust, level: SideEffect) -> Finding<Concurrency> {
    let (shared, exclusive) = (Concurrency::Shared, Concurrency::Exclusive);
    match (claim.exclusive, level) {
        (true, _) => Finding::new(exclusive, Ground::Admitted),
        (false, SideEffect::ReadOnly) => Finding::new(shared, Ground::Verified),
        (false, SideEffect::Mutating) => Finding::unproven(trust, shared, exclusive, || {
            "claims that its calls may overlap, which nothing shows: treated as exclusive"
                .to_owned()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: Claim = Claim {
        level: SideEffect::ReadOnly,
        destructive: false,
        idempotent: true,
        open_world: false,
        exclusive: false,
    };
    /// The most flattering claim of a tool that admits to change something.
    const MAKER: Claim = Claim {
        level: SideEffect::Mutating,
        ..READER
    };
    const NOTHING: Evidence = Evidence {
        writes_files: false,
        network: false,
        shell: false,
        store: false,
    };
    const FILES: Evidence = Evidence {
        writes_files: true,
        ..NOTHING
    };
    const NETWORK: Evidence = Evidence {
        network: true,
        ..NOTHING
    };
    const SHELL: Evidence = Evidence {
        shell: true,
        ..NOTHING
    };
    const STORE: Evidence = Evidence {
        store: true,
        ..NOTHING
    };
    const EVERYBODY: [Trust; 3] = [Trust::Audited, Trust::Operator, Trust::None];

    #[test]
    fn a_ceiling_permits_what_is_at_or_below_it() {
        assert!(SideEffect::Mutating.permits(SideEffect::ReadOnly));
        assert!(SideEffect::Mutating.permits(SideEffect::Mutating));
        assert!(SideEffect::ReadOnly.permits(SideEffect::ReadOnly));
        assert!(!SideEffect::ReadOnly.permits(SideEffect::Mutating));
    }

    #[test]
    fn read_only_is_believed_only_where_the_sandbox_makes_it_true() {
        for trust in EVERYBODY {
            let honest = Traits::resolve(&READER, &NOTHING, trust);
            assert_eq!(honest.level, SideEffect::ReadOnly);
            assert_eq!(honest.concurrency, Concurrency::Shared);
            assert!(honest.idempotent && !honest.destructive && !honest.open_world);
            assert!(honest.reductions.is_empty() && !honest.create_only);
            let grounds = serde_json::to_value(honest.grounds).unwrap();
            for (name, ground) in grounds.as_object().unwrap() {
                assert_eq!(ground, "verified", "{name}");
            }
            for evidence in [FILES, SHELL, STORE] {
                let liar = Traits::resolve(&READER, &evidence, trust);
                assert_eq!(liar.level, SideEffect::Mutating);
                assert_eq!(liar.concurrency, Concurrency::Exclusive);
                assert!(liar.destructive && !liar.idempotent && !liar.create_only);
                assert_eq!(liar.grounds.level, Ground::NotBelieved);
                assert_eq!(liar.grounds.destructive, Ground::NotBelieved);
                let of_level = liar
                    .reductions
                    .iter()
                    .filter(|why| why.contains("read-only"));
                assert_eq!(of_level.count(), 1, "{:?}", liar.reductions);
            }
        }
    }

    /// The grant lets it send nothing but GET and HEAD; what answers is the open world all the same.
    #[test]
    fn a_reader_may_read_the_network() {
        for trust in EVERYBODY {
            let reader = Traits::resolve(&READER, &NETWORK, trust);
            assert_eq!(reader.level, SideEffect::ReadOnly);
            assert_eq!(reader.grounds.level, Ground::Verified);
            assert!(reader.open_world && !reader.destructive && reader.idempotent);
        }
    }

    #[test]
    fn read_only_and_destructive_is_stored_as_not_destructive() {
        let claim = Claim {
            destructive: true,
            ..READER
        };
        let traits = Traits::resolve(&claim, &NOTHING, Trust::None);
        assert!(!traits.destructive);
        assert_eq!(traits.reductions.len(), 1);
    }

    #[test]
    fn non_destructive_is_verified_where_only_files_can_be_changed() {
        for trust in EVERYBODY {
            let maker = Traits::resolve(&MAKER, &FILES, trust);
            assert!(maker.create_only && !maker.destructive);
            assert_eq!(maker.grounds.destructive, Ground::Verified);
            let idle = Traits::resolve(&MAKER, &NOTHING, trust);
            assert!(!idle.create_only && !idle.destructive);
            assert_eq!(idle.grounds.destructive, Ground::Verified);
        }
    }

    #[test]
    fn what_nothing_shows_counts_only_where_somebody_vouches() {
        for evidence in [NETWORK, SHELL, STORE] {
            let both = Evidence {
                writes_files: true,
                ..evidence
            };
            let alone = Traits::resolve(&MAKER, &both, Trust::None);
            assert!(alone.destructive && !alone.idempotent);
            assert_eq!(alone.concurrency, Concurrency::Exclusive);
            assert_eq!(alone.grounds.destructive, Ground::NotBelieved);
            assert!(
                alone.create_only,
                "power that a claim gives up stays given up"
            );
            for trust in [Trust::Audited, Trust::Operator] {
                let vouched = Traits::resolve(&MAKER, &both, trust);
                assert!(!vouched.destructive && vouched.idempotent && vouched.create_only);
                assert_eq!(vouched.concurrency, Concurrency::Shared);
                assert_eq!(vouched.grounds.destructive, Ground::Trusted);
                assert_eq!(vouched.grounds.idempotent, Ground::Trusted);
                assert_eq!(vouched.grounds.concurrency, Ground::Trusted);
            }
        }
        let reduced = Traits::resolve(&MAKER, &NETWORK, Trust::None).reductions;
        assert_eq!(
            reduced,
            [
                "claims to be non-destructive, which nothing shows where it reaches the network: treated as destructive",
                "claims to be idempotent, which nothing shows: treated as not idempotent",
                "claims that its calls may overlap, which nothing shows: treated as exclusive",
                "claims to stay in the closed world, but asks for the network: treated as open-world",
            ]
        );
    }

    #[test]
    fn the_network_is_the_open_world_whoever_says_otherwise() {
        for trust in EVERYBODY {
            let dials = Traits::resolve(&MAKER, &NETWORK, trust);
            assert!(dials.open_world);
            assert_eq!(dials.grounds.open_world, Ground::NotBelieved);
        }
        assert!(Traits::resolve(&MAKER, &SHELL, Trust::None).open_world);
        assert!(!Traits::resolve(&MAKER, &SHELL, Trust::Operator).open_world);
    }

    #[test]
    fn what_a_tool_says_against_itself_stands() {
        let silent = Claim::default();
        for trust in EVERYBODY {
            for evidence in [NOTHING, FILES, NETWORK] {
                let traits = Traits::resolve(&silent, &evidence, trust);
                assert_eq!(traits.level, SideEffect::Mutating);
                assert_eq!(traits.concurrency, Concurrency::Exclusive);
                assert!(traits.destructive && !traits.idempotent && traits.open_world);
                assert!(traits.reductions.is_empty() && !traits.create_only);
                let grounds = serde_json::to_value(traits.grounds).unwrap();
                for (name, ground) in grounds.as_object().unwrap() {
                    assert_eq!(ground, "admitted", "{name}");
                }
            }
        }
    }
}
