;; A small redactor: GitHub's personal tokens become `[redacted:github-token]`. As long as the shortest token is longer than
;; the placeholder, a text never grows.
(module
  (import "throughline:policy/log@0.1.0" "write" (func $log (param i32 i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 64) "[redacted:github-token]")
  (data (i32.const 128) "a token was found")
  (global $heap (mut i32) (i32.const 4096))

  (func $alloc (param $size i32) (result i32)
    (local $at i32) (local $end i32) (local $have i32)
    (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
    (local.set $end (i32.add (local.get $at) (local.get $size)))
    (local.set $have (i32.shl (memory.size) (i32.const 16)))
    (if (i32.gt_u (local.get $end) (local.get $have))
      (then
        (if (i32.eq
              (memory.grow (i32.add (i32.shr_u (i32.sub (local.get $end) (local.get $have)) (i32.const 16)) (i32.const 1)))
              (i32.const -1))
          (then unreachable))))
    (global.set $heap (local.get $end))
    (local.get $at))

  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (call $alloc (local.get 3)))

  ;; Letters and digits.
  (func $is_word (param $c i32) (result i32)
    (i32.or
      (i32.lt_u (i32.sub (local.get $c) (i32.const 48)) (i32.const 10))
      (i32.lt_u (i32.sub (i32.or (local.get $c) (i32.const 32)) (i32.const 97)) (i32.const 26))))

  ;; The length of the token that begins at $at, or 0.
  (func $token (param $at i32) (param $end i32) (result i32)
    (local $length i32)
    (if (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 24)) (then (return (i32.const 0))))
    ;; "ghp_"
    (if (i32.ne (i32.load align=1 (local.get $at)) (i32.const 0x5f706867)) (then (return (i32.const 0))))
    (local.set $length (i32.const 4))
    (block $out
      (loop $more
        (br_if $out (i32.ge_u (i32.add (local.get $at) (local.get $length)) (local.get $end)))
        (br_if $out (i32.eqz (call $is_word (i32.load8_u (i32.add (local.get $at) (local.get $length))))))
        (local.set $length (i32.add (local.get $length) (i32.const 1)))
        (br $more)))
    (select (local.get $length) (i32.const 0) (i32.ge_u (local.get $length) (i32.const 24))))

  ;; Redacts the text at $in and writes its result to $result.
  (func $text (param $in i32) (param $bytes i32) (param $result i32)
    (local $at i32) (local $end i32) (local $out i32) (local $to i32) (local $length i32) (local $found i32)
    (local.set $at (local.get $in))
    (local.set $end (i32.add (local.get $in) (local.get $bytes)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $length (call $token (local.get $at) (local.get $end)))
        (if (local.get $length)
          (then
            (if (i32.eqz (local.get $found))
              (then
                (local.set $out (call $alloc (local.get $bytes)))
                (local.set $to (i32.add (local.get $out) (i32.sub (local.get $at) (local.get $in))))
                (memory.copy (local.get $out) (local.get $in) (i32.sub (local.get $at) (local.get $in)))))
            (if (i32.eqz (local.get $found)) (then (call $log (i32.const 1) (i32.const 128) (i32.const 17))))
            (local.set $found (i32.add (local.get $found) (i32.const 1)))
            (memory.copy (local.get $to) (i32.const 64) (i32.const 23))
            (local.set $to (i32.add (local.get $to) (i32.const 23)))
            (local.set $at (i32.add (local.get $at) (local.get $length))))
          (else
            (if (local.get $found)
              (then
                (i32.store8 (local.get $to) (i32.load8_u (local.get $at)))
                (local.set $to (i32.add (local.get $to) (i32.const 1)))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))))
        (br $next)))
    (i32.store (local.get $result) (i32.ne (local.get $found) (i32.const 0)))
    (i32.store offset=4 (local.get $result) (local.get $out))
    (i32.store offset=8 (local.get $result) (i32.sub (local.get $to) (local.get $out)))
    (i32.store offset=12 (local.get $result) (i32.const 0))
    (i32.store offset=16 (local.get $result) (i32.ne (local.get $found) (i32.const 0)))
    (if (local.get $found)
      (then
        (local.set $out (call $alloc (i32.const 12)))
        (i32.store offset=12 (local.get $result) (local.get $out))
        (i32.store (local.get $out) (i32.const 74))
        (i32.store offset=4 (local.get $out) (i32.const 12))
        (i32.store offset=8 (local.get $out) (local.get $found)))))

  (func (export "throughline:policy/redactor@0.1.0#redact") (param $texts i32) (param $count i32) (result i32)
    (local $results i32) (local $i i32)
    (local.set $results (call $alloc (i32.mul (local.get $count) (i32.const 20))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $count)))
        (call $text
          (i32.load (i32.add (local.get $texts) (i32.mul (local.get $i) (i32.const 8))))
          (i32.load offset=4 (i32.add (local.get $texts) (i32.mul (local.get $i) (i32.const 8))))
          (i32.add (local.get $results) (i32.mul (local.get $i) (i32.const 20))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i32.store (i32.const 16) (i32.const 0))
    (i32.store (i32.const 20) (local.get $results))
    (i32.store (i32.const 24) (local.get $count))
    (i32.const 16))

  ;; The host has taken the result: all memory is free again.
  (func (export "cabi_post_throughline:policy/redactor@0.1.0#redact") (param i32)
    (global.set $heap (i32.const 4096))))
