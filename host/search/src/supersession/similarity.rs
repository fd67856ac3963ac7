//! How similar texts are: the cosine of their words, weighed by how rare they are among these texts.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::tokens::{self, Class};

/// Texts with their similarity, the most similar first.
type Near = Rc<[(usize, f32)]>;

type Words = HashMap<Rc<str>, usize, foldhash::fast::RandomState>;

/// Texts as vectors of their words.
pub(super) struct Space {
    /// By a word's number, its weight: the rarer, the more.
    weights: Vec<f32>,
    /// By a word's number, the texts that have it, and the word's share in each text's vector of length 1.
    texts_with: Vec<Vec<(usize, f32)>>,
    /// Of each text, its words and their shares, by number.
    texts: Vec<Vec<(usize, f32)>>,
    /// The least similarity of texts that are near each other.
    least: f32,
    /// What was found near each text so far.
    near: RefCell<HashMap<usize, Near, foldhash::fast::RandomState>>,
}

impl Space {
    /// Measures the texts, each a title and a content. Those of at least the similarity `least` are near each other.
    #[expect(clippy::cast_precision_loss, reason = "counts of words and texts")]
    pub(super) fn new<'t>(texts: impl Iterator<Item = [&'t str; 2]>, least: f32) -> Self {
        let mut words = Words::default();
        let mut counted: Vec<Vec<(usize, u32)>> = Vec::new();
        for parts in texts {
            let mut counts: HashMap<usize, u32, foldhash::fast::RandomState> = HashMap::default();
            let [title, content] = parts;
            // The content of a result begins with its title.
            let parts = if content.contains(title) { [content, ""] } else { [title, content] };
            for part in parts {
                tokens::for_each_token(part, |token| {
                    if token.class != Class::Last {
                        let next = words.len();
                        let number = match words.get(token.text) {
                            Some(number) => *number,
                            None => *words.entry(token.text.into()).or_insert(next),
                        };
                        *counts.entry(number).or_default() += 1;
                    }
                });
            }
            let mut counts: Vec<(usize, u32)> = counts.into_iter().collect();
            counts.sort_unstable();
            counted.push(counts);
        }
        let mut occurrences = vec![0_u32; words.len()];
        for (word, _) in counted.iter().flatten() {
            occurrences[*word] += 1;
        }
        let all = counted.len() as f32;
        let weights: Vec<f32> = occurrences.iter().map(|&count| (all / count.max(1) as f32).ln_1p()).collect();
        let mut texts_with = vec![Vec::new(); words.len()];
        let mut texts = Vec::with_capacity(counted.len());
        for (text, counts) in counted.into_iter().enumerate() {
            let mut shares: Vec<(usize, f32)> =
                counts.into_iter().map(|(word, count)| (word, (1.0 + (count as f32).ln()) * weights[word])).collect();
            let length = shares.iter().map(|(_, share)| share * share).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            for (word, share) in &mut shares {
                *share /= length;
                texts_with[*word].push((text, *share));
            }
            texts.push(shares);
        }
        Self { weights, texts_with, texts, least, near: RefCell::default() }
    }

    /// Returns the texts that are near one of them, the most similar first.
    pub(super) fn nearest(&self, text: usize) -> Near {
        if let Some(known) = self.near.borrow().get(&text) {
            return Rc::clone(known);
        }
        let mut sums = vec![0.0; self.texts.len()];
        for (word, share) in &self.texts[text] {
            for (other, other_share) in &self.texts_with[*word] {
                sums[*other] += share * other_share;
            }
        }
        let mut near: Vec<(usize, f32)> =
            sums.into_iter().enumerate().filter(|&(other, similarity)| other != text && similarity >= self.least).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let near: Near = near.into();
        self.near.borrow_mut().insert(text, Rc::clone(&near));
        near
    }

    /// Returns which share of the weight of one text's words another one has, and which share of the other's they are.
    pub(super) fn shares(&self, one: usize, other: usize) -> (f32, f32) {
        let weight = |text: usize| self.texts[text].iter().map(|(word, _)| self.weights[*word]).sum::<f32>();
        let of_other = &self.texts[other];
        let both: f32 = self.texts[one]
            .iter()
            .filter(|(word, _)| of_other.binary_search_by_key(word, |(word, _)| *word).is_ok())
            .map(|(word, _)| self.weights[*word])
            .sum();
        let share = |of: f32| if of > 0.0 { both / of } else { 0.0 };
        (share(weight(one)), share(weight(other)))
    }
}
