//! Limits the size of a server's messages. The client would otherwise wait in memory for all of a message of a gigabyte.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsStream};

/// The longest message, bytes. The longest that a server has a reason to send is one record.
pub(crate) const MAX_MESSAGE: u32 = 4 << 20;

/// A stream of the PostgreSQL protocol after the TLS handshake: each message has a byte for its type and four for its length,
/// which counts itself.
pub(crate) struct Bounded<S> {
    inner: S,
    frames: Frames,
    /// Set when a message was too long.
    overrun: Arc<AtomicBool>,
}

impl<S> Bounded<S> {
    pub(crate) fn new(inner: S, overrun: Arc<AtomicBool>) -> Self {
        Self { inner, frames: Frames::default(), overrun }
    }
}

/// Where in a message the stream is.
#[derive(Default)]
struct Frames {
    header: Vec<u8>,
    left: u64,
}

impl Frames {
    /// Follows the messages in the bytes. Returns false if one is too long.
    fn follow(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.left > 0 {
                let skipped = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= skipped as u64;
                bytes = &bytes[skipped..];
                continue;
            }
            self.header.push(bytes[0]);
            bytes = &bytes[1..];
            if let [_, a, b, c, d] = self.header[..] {
                let length = u32::from_be_bytes([a, b, c, d]);
                if !(4..=MAX_MESSAGE).contains(&length) {
                    return false;
                }
                self.left = u64::from(length) - 4;
                self.header.clear();
            }
        }
        true
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut own.inner).poll_read(context, buffer))?;
        if own.frames.follow(&buffer.filled()[before..]) {
            return Poll::Ready(Ok(()));
        }
        own.overrun.store(true, Ordering::Relaxed);
        Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "a message of the server is too long")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Bounded<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: u32, bytes: usize) -> Vec<u8> {
        [&b"D"[..], &length.to_be_bytes(), &vec![0; bytes]].concat()
    }

    #[test]
    fn a_message_that_is_too_long_is_seen_by_its_head() {
        let short = [message(4, 0), message(9, 5), message(MAX_MESSAGE, MAX_MESSAGE as usize - 4)].concat();
        for step in [1, 3, 7, 4096] {
            let mut frames = Frames::default();
            assert!(short.chunks(step).all(|bytes| frames.follow(bytes)));
            assert!(!frames.follow(&message(1 << 30, 0)));
        }
        assert!(!Frames::default().follow(&message(3, 0)), "a length counts itself");
    }
}
