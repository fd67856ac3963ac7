//! Text on character boundaries: clipping, first sentences, UTF-16 lengths, normalization.
