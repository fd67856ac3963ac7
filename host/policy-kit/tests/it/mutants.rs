//! Loads, links and checks a thousand damaged components, as if they were installed policies. None of them may crash or
//! hang the host, and one that passes must also redact texts correctly that the suite does not contain.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use arbitrary::Unstructured;
use throughline_model::digest::sha256_hex;
use throughline_policy_kit::conformance::{self, Granted, Options, Stage};
use throughline_sandbox::cache::Cache;
use throughline_sandbox::engine::{EpochTicker, Limits};
use throughline_sandbox::imports::Grants;
use throughline_sandbox::instance::LinkedPolicy;

const MUTANTS: usize = 1_000;

/// A reproducible random number generator: 64-bit linear congruential, of which the upper half is used.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end.max(1)
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| u8::try_from(self.below(256)).expect("a byte")).collect()
    }
}

/// The opcodes from `i32.eq` to `i32.ge_u` and from `i32.add` to `i32.rotr`.
const OPERATORS: &[u8] = &[
    0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x6a, 0x6b, 0x6c, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77,
    0x78,
];

/// Returns the bytes of the mutant with this number and how it was changed.
fn mutant(number: usize, sound: &[u8]) -> (&'static str, Vec<u8>) {
    let mut random = Random(number as u64 + 1);
    // The first numbers of similar seeds are alike.
    for _ in 0..8 {
        random.below(1);
    }
    let mut bytes = sound.to_vec();
    match number % 10 {
        0..=2 => {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            ("bits flipped", bytes)
        }
        3 | 4 => {
            // The code around `ghp_`, the constant that the code compares with.
            let code = sound.windows(5).position(|bytes| bytes == [0xe7, 0xd0, 0xc1, 0xfb, 0x05]).expect("it is there");
            let mut places: Vec<usize> = (code - 150..code + 350).collect();
            if number % 10 == 3 {
                // These operators turn two numbers into one, so each can replace any other.
                places.retain(|&at| OPERATORS.contains(&bytes[at]));
                let at = places[random.below(places.len())];
                bytes[at] = OPERATORS[random.below(OPERATORS.len())];
                return ("an operator replaced", bytes);
            }
            let at = places[random.below(places.len())];
            bytes[at] = bytes[at].wrapping_add(u8::try_from(random.below(255)).expect("a byte") + 1);
            ("a byte of code replaced", bytes)
        }
        5 => {
            let at = random.below(bytes.len());
            let length = random.below(16) + 1;
            bytes.iter_mut().skip(at).take(length).for_each(|byte| *byte = 0);
            ("bytes zeroed", bytes)
        }
        6 => {
            bytes.truncate(random.below(sound.len()));
            ("cut off", bytes)
        }
        7 => {
            // The byte after a section's number is its length. Almost any byte looks like a section number somewhere.
            let sections: Vec<usize> = (8..bytes.len() - 1).filter(|&at| bytes[at] <= 12).collect();
            let at = sections[random.below(sections.len())] + 1;
            bytes[at] = bytes[at].wrapping_add([1, 255, 128, 16][random.below(4)]);
            ("a length changed", bytes)
        }
        8 => {
            let (head, tail) = (random.below(sound.len()), random.below(sound.len()));
            bytes.truncate(head);
            bytes.extend_from_slice(&sound[tail..]);
            ("halves spliced", bytes)
        }
        _ => generated(number, &mut random),
    }
}

/// Returns a valid module or component that has nothing to do with the contract.
fn generated(number: usize, random: &mut Random) -> (&'static str, Vec<u8>) {
    let seed = random.bytes(4_096);
    let mut seed = Unstructured::new(&seed);
    let config = wasm_smith::Config { max_memory32_bytes: 1 << 32, ..wasm_smith::Config::default() };
    if (number / 10).is_multiple_of(2) {
        let module = wasm_smith::Module::new(config, &mut seed).expect("enough seed");
        ("a generated module", module.to_bytes())
    } else {
        let component = wasm_smith::Component::new(config, &mut seed).expect("enough seed");
        ("a generated component", component.to_bytes())
    }
}

/// The step at which a mutant was rejected, or that it passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Loading,
    Linking,
    Suite,
    Fine,
}

/// Takes a component through the steps of an installed policy.
fn judge(clock: &EpochTicker, bytes: &[u8], options: &Options) -> Result<End> {
    let folder = tempfile::tempdir()?;
    let digest = sha256_hex(bytes);
    let cache = Cache::new(folder.path().join("components"));
    let compile = throughline_compiler::compile;
    let Ok((component, _)) = cache.load_or_compile(clock.engine(), &digest, bytes, Instant::now(), compile) else {
        return Ok(End::Loading);
    };
    let terms = crate::support::terms("mutant", &[Stage::Redactor], Limits::default());
    let Ok(policy) = LinkedPolicy::link(terms, clock, &component).map(Arc::new) else { return Ok(End::Linking) };
    let subject = Granted { policy: &policy, grants: Grants::default() };
    if !conformance::run(&subject, &[Stage::Redactor], options).has_passed() {
        return Ok(End::Suite);
    }
    let exports: Vec<String> = component.component_type().exports(clock.engine()).map(|(name, _)| name.to_owned()).collect();
    ensure!(exports.iter().any(|name| name == "throughline:policy/redactor@0.1.0"), "it exports {exports:?}");
    behaves(&policy)?;
    Ok(End::Fine)
}

/// Returns texts of another kind than the suite's.
fn texts(random: &mut Random) -> Vec<String> {
    const PARTS: &[&str] = &[
        "ghp_",
        "gh",
        "p_",
        "A1b2C3d4E5",
        "zzzzzzzzzzzzzzzzzzzzzzzz",
        " ",
        "\n",
        "é",
        "한",
        "👍",
        "_",
        "ghp_0123456789012345678901234567",
    ];
    (0..random.below(40)).map(|_| (0..random.below(60)).map(|_| PARTS[random.below(PARTS.len())]).collect()).collect()
}

/// Checks what makes a redactor, with other texts and in another way than the suite.
fn behaves(policy: &Arc<LinkedPolicy>) -> Result<()> {
    let mut random = Random(42);
    let mut running = policy.start(Grants::default(), Instant::now() + Duration::from_secs(1))?;
    for _ in 0..30 {
        let texts = texts(&mut random);
        let results = running.redacted(&texts, Instant::now() + Duration::from_secs(5))?;
        ensure!(results.len() == texts.len(), "{} texts, {} results", texts.len(), results.len());
        let once: Vec<String> =
            texts.iter().zip(&results).map(|(text, result)| result.text.clone().unwrap_or_else(|| text.clone())).collect();
        for (text, output) in texts.iter().zip(&once) {
            ensure!(is_redacted(text, output), "{text:?} becomes {output:?}");
        }
        let mut twice = once.clone();
        running.redact(&mut twice, Instant::now() + Duration::from_secs(5))?;
        ensure!(once == twice, "what was redacted is redacted again");
    }
    Ok(())
}

/// Whether the output is the text with parts replaced by placeholders. The texts contain no `[`.
fn is_redacted(text: &str, output: &str) -> bool {
    let mut rest = text;
    for (number, part) in output.split("[redacted:").enumerate() {
        let kept = match (number, part.split_once(']')) {
            (0, _) => part,
            (_, Some((rule, kept))) if rule.bytes().all(|b| b.is_ascii_graphic()) => kept,
            _ => return false,
        };
        let Some(at) = rest.find(kept).filter(|&at| number > 0 || at == 0) else { return false };
        rest = &rest[at + kept.len()..];
    }
    output.contains('[') || rest.is_empty()
}

#[test]
fn no_mutant_crashes_hangs_or_is_called_fine_without_being_it() {
    let began = Instant::now();
    let sound = tests::wasm::token_redactor(None);
    let clock = EpochTicker::start().expect("an engine");
    assert_eq!(judge(&clock, &sound, &Options::default()).expect("it behaves"), End::Fine);

    // A mutant that hangs must not take much of the test's time.
    let (call, whole) = (Duration::from_millis(100), Duration::from_millis(600));
    let options = Options { call, whole, ..Options::default() };
    let ends: Mutex<BTreeMap<(End, &str), usize>> = Mutex::default();
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let slowest = Mutex::new((Duration::ZERO, 0));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= MUTANTS {
                        return;
                    }
                    let (how, bytes) = mutant(number, &sound);
                    let started = Instant::now();
                    let judged = catch_unwind(AssertUnwindSafe(|| judge(&clock, &bytes, &options)));
                    let took = started.elapsed();
                    let mut slowest = slowest.lock().expect("no thread panics");
                    *slowest = (*slowest).max((took, number));
                    match judged {
                        Ok(Ok(end)) => *ends.lock().expect("no thread panics").entry((end, how)).or_default() += 1,
                        Ok(Err(error)) => {
                            wrong.lock().expect("no thread panics").push(format!("{number} ({how}): {error:#}"));
                        }
                        Err(_) => wrong.lock().expect("no thread panics").push(format!("{number} ({how}): a panic")),
                    }
                }
            });
        }
    });
    let ends = ends.into_inner().expect("no thread panics");
    let (took, number) = slowest.into_inner().expect("no thread panics");
    for ((end, how), count) in &ends {
        println!("{end:?}: {count} with {how}");
    }
    println!("{} bytes; {MUTANTS} mutants in {:?}; the slowest is {number}: {took:?}", sound.len(), began.elapsed());
    let wrong = wrong.into_inner().expect("no thread panics");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(ends.values().sum::<usize>(), MUTANTS);
    // Every call has its own deadline, so a call that never ends would take minutes. On a machine with ten other processes at work, a
    // mutant whose calls all run into their deadlines took 31 seconds.
    assert!(took < Duration::from_secs(90), "{number} took {took:?}");
    // If no mutant ended at one of these steps, the test would say nothing about that step.
    for end in [End::Loading, End::Linking, End::Suite, End::Fine] {
        assert!(ends.keys().any(|(found, _)| *found == end), "no mutant came to {end:?}: {ends:?}");
    }
}
