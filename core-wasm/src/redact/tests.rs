//! Tests of what is redacted and what stays. All values were made up for these tests. Values that a scanner of this
//! repository might take for real ones are assembled at run time.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Returns a made-up body of letters and digits. The same seed always gives the same body.
fn body(length: usize, seed: u32) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(ALPHABET[(state >> 16) as usize % ALPHABET.len()])
        })
        .collect()
}

fn hex(length: usize, seed: u32) -> String {
    body(length, seed).bytes().map(|byte| char::from(b"0123456789abcdef"[usize::from(byte) % 16])).collect()
}

fn upper(length: usize, seed: u32) -> String {
    body(length, seed).to_ascii_uppercase()
}

/// Ways in which a token occurs in a transcript.
fn settings(token: &str) -> Vec<String> {
    vec![
        token.to_owned(),
        format!("here it is: {token}."),
        format!("\"{token}\""),
        format!("{{\"stdout\":\"first\\n{token}\\nlast\"}}"),
        format!("{{\\\"key\\\":\\\"{token}\\\"}}"),
        format!("+  value: '{token}',"),
        format!("    12→const v = `{token}`;"),
        format!("https://example.com/?v={token}&x=1"),
        format!("값은 {token}입니다"),
        format!("\u{1b}[32m{token}\u{1b}[0m"),
        format!("a%3D{token}"),
    ]
}

#[test]
fn tokens_are_redacted_in_any_context() {
    let tokens = [
        ("aws-access-token", format!("AKIA{}", upper(16, 1))),
        ("gcp-api-key", format!("AIza{}", body(35, 2))),
        ("github-token", format!("ghp_{}", body(36, 3))),
        ("github-token", format!("ghs_{}", body(36, 4))),
        ("github-fine-grained-pat", format!("github_pat_{}_{}", body(22, 5), body(59, 6))),
        ("gitlab-token", format!("glpat-{}", body(20, 7))),
        ("npm-access-token", format!("npm_{}", body(36, 8))),
        ("pypi-upload-token", format!("pypi-AgEIcHlwaS5vcmc{}", body(70, 9))),
        ("slack-token", format!("xoxb-{}-{}", "2489135710", body(24, 10))),
        ("stripe-access-token", format!("sk_live_{}", body(24, 11))),
        ("anthropic-api-key", format!("sk-ant-api03-{}-{}AA", body(50, 12), body(40, 13))),
        ("openai-api-key", format!("sk-proj-{}T3BlbkFJ{}", body(40, 14), body(40, 15))),
        ("sk-api-key", format!("sk-{}T3BlbkFJ{}", body(20, 16), body(20, 17))),
        ("sk-api-key", format!("sk-{}", hex(32, 18))),
        ("huggingface-access-token", format!("hf_{}", body(34, 19))),
        ("groq-api-key", format!("gsk_{}", body(52, 20))),
        ("sendgrid-api-token", format!("SG.{}.{}", body(22, 21), body(43, 22))),
        ("telegram-bot-api-token", format!("2481632640:AA{}", body(33, 23))),
        ("digitalocean-token", format!("dop_v1_{}", hex(64, 24))),
        ("hashicorp-vault-token", format!("hvs.{}", body(90, 25))),
        ("slack-webhook-url", format!("hooks.slack.com/services/T{}/B{}/{}", upper(9, 26), upper(9, 27), body(24, 28))),
        ("jwt", format!("eyJ{}.eyJ{}.{}", body(30, 29), body(60, 30), body(43, 31))),
        ("databricks-api-token", format!("dapi{}", hex(32, 32))),
        ("google-client-secret", format!("GOCSPX-{}", body(28, 33))),
    ];
    let mut wrong = Vec::new();
    for (rule, token) in tokens {
        for text in settings(&token) {
            let scrubbed = scrub(&text);
            let expected = text.replace(&token, &format!("[redacted:{rule}]"));
            if scrubbed != expected || scrub(&scrubbed) != scrubbed {
                wrong.push(format!("{text} -> {scrubbed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each row: a text, and the part of it that is the secret.
#[test]
fn values_of_suspicious_names_are_redacted() {
    let random = body(24, 40);
    let random = random.as_str();
    let digest = hex(40, 41);
    let digest = digest.as_str();
    let cases = [
        (format!("DB_PASSWORD={random}"), random),
        ("DB_PASS=sunshine".to_owned(), "sunshine"),
        ("export PGPASSWORD='correct-horse7'".to_owned(), "correct-horse7"),
        ("{\"password\": \"hunter2\"}".to_owned(), "hunter2"),
        ("{\"password\":\"a\\\"b1c,d\",\"x\":1}".to_owned(), "a\\\"b1c,d"),
        ("\"{\\\"password\\\":\\\"hunter2!x\\\",\\\"x\\\":1}\"".to_owned(), "hunter2!x"),
        ("const password = 'Tr0ub4dor&3';".to_owned(), "Tr0ub4dor&3"),
        ("let password: string = \"hunter2hunter\";".to_owned(), "hunter2hunter"),
        ("password: tr0ub4dor&3\nnext: 1".to_owned(), "tr0ub4dor&3"),
        (format!("aws_secret_access_key = {random}+/{}", body(14, 42)), "?"),
        (format!("client_secret: \"{random}\""), random),
        (format!("os.environ[\"API_KEY\"] = \"{random}\""), random),
        (format!("headers.set('X-Api-Key', '{random}')"), random),
        (format!("X-Api-Key: {digest}"), digest),
        (format!("//registry.npmjs.org/:_authToken={random}"), random),
        (format!("STRIPE_KEY={random}"), random),
        (format!("<password>{random}</password>"), random),
        ("Server=db;User Id=sa;Password=Sunsh1ne!;Encrypt=true".to_owned(), "Sunsh1ne!"),
        (format!("AccountName=store;AccountKey={random}{digest}==;EndpointSuffix=x"), "?"),
        (format!("https://api.example.com/v1?token={random}&page=2"), random),
        (format!("--token {random} --verbose"), random),
        ("--password 'hunter2 x9'".to_owned(), "hunter2 x9"),
        (format!("cmd --api-key={random}"), random),
        ("비밀번호: sunny2024!".to_owned(), "sunny2024!"),
        (format!("DATABASE_URL=postgres://app:{random}@db.internal:5432/app"), random),
        ("redis://:s3cr3tpw@cache:6379".to_owned(), "s3cr3tpw"),
        ("mongodb+srv://app:p%40ss9word@cluster0.example.net/x".to_owned(), "p%40ss9word"),
        ("amqp://app:pa/ss9@mq:5672".to_owned(), "pa/ss9"),
        (format!("git clone https://{digest}@git.example.com/a/b.git"), digest),
        (format!("https://oauth2:{random}@git.example.com/a/b.git"), random),
        ("app:s3cr3t99@tcp(127.0.0.1:3306)/app".to_owned(), "s3cr3t99"),
        (format!("Authorization: Bearer {random}"), random),
        ("Authorization: Basic YXBwOnMzY3IzdDk5".to_owned(), "YXBwOnMzY3IzdDk5"),
        (format!("-H \"authorization: token {random}\""), random),
        (format!("{{\"Authorization\": \"Bearer {random}\"}}"), random),
        (format!("uses Bearer {random} here"), random),
        ("\"auth\": \"YXBwOnMzY3IzdDk5\"".to_owned(), "YXBwOnMzY3IzdDk5"),
        (format!("Cookie: theme=dark; sid={random}"), random),
        (format!("Set-Cookie: sid={random}; Path=/; HttpOnly"), random),
        (format!("'cookie': 'sid={random}'"), random),
        ("mysql -u root -pSunsh1ne app".to_owned(), "Sunsh1ne"),
        ("mysqldump --host=x -p'Sun sh1ne9' app".to_owned(), "Sun sh1ne9"),
        ("sshpass -p sunshine9 ssh app@host".to_owned(), "sunshine9"),
        ("curl -s -u app:s3cr3t99 https://example.com".to_owned(), "s3cr3t99"),
        ("curl --user 'app:s3cr3t 99' https://example.com".to_owned(), "s3cr3t 99"),
        ("redis-cli -h x -a sunshine9 ping".to_owned(), "sunshine9"),
        ("docker login -u app -p sunshine9 registry".to_owned(), "sunshine9"),
        ("openssl rsa -passin pass:sunshine9 -in x".to_owned(), "sunshine9"),
        ("machine h login app password sunshine9".to_owned(), "sunshine9"),
    ];
    let mut wrong = Vec::new();
    for (text, secret) in &cases {
        let scrubbed = scrub(text);
        let exact = text.split_once(secret).is_none_or(|(before, behind)| {
            scrubbed.starts_with(&format!("{before}[redacted:")) && scrubbed.ends_with(&format!("]{behind}"))
        });
        if scrubbed == *text || !exact || scrub(&scrubbed) != scrubbed {
            wrong.push(format!("{text} -> {scrubbed}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn harmless_texts_stay() {
    let commit = hex(40, 50);
    let digest = hex(64, 51);
    let texts = [
        format!("commit {commit}\nMerge: {} {}", &commit[..7], &commit[8..15]),
        format!("sha256:{digest}  {digest}  file.tar.gz"),
        format!("\"integrity\": \"sha512-{}==\"", body(86, 52)),
        "session 0b0c2a9e-8d4f-4b1e-9f5e-3c2b1a0d9e8f".to_owned(),
        format!("data:image/png;base64,iVBORw0KGgo{}", body(900, 53)),
        format!("\"cache_key\": \"{digest}\""),
        "password: string".to_owned(),
        "  password?: string | null;".to_owned(),
        "def login(username: str, password: str) -> Token:".to_owned(),
        "password = getpass.getpass()".to_owned(),
        "const password = req.body.password;".to_owned(),
        "const { password } = form; if (password !== confirmPassword) {".to_owned(),
        "<input type=\"password\" name=\"password\" placeholder=\"Password\" />".to_owned(),
        "<label for=\"password\">Password:</label>".to_owned(),
        "{\"password\": \"Enter your password\", \"token\": \"Access token\"}".to_owned(),
        "PASSWORD=$DB_PASSWORD SECRET=${SECRET} TOKEN=$(cat token)".to_owned(),
        "DB_PASSWORD=changeme\nAPI_KEY=your-api-key-here\nSECRET=".to_owned(),
        "token: ${{ secrets.GITHUB_TOKEN }}".to_owned(),
        "max_tokens: 4096, total_tokens=123456, \"input_tokens\": 1000".to_owned(),
        "next_page_token=Cg0xMjM0NTY3ODkwYWJj".to_owned(),
        "token = self.tokens[self.position2]".to_owned(),
        "apiKey: process.env.OPENAI_API_KEY,".to_owned(),
        "api_key = os.environ[\"API_KEY\"]".to_owned(),
        "let token = Token::new(kind, 12);".to_owned(),
        "secretKeyRef: {name: app-secrets, key: db-password}".to_owned(),
        "postgres://user:password@localhost:5432/db".to_owned(),
        "postgres://postgres:postgres@localhost:5432/db".to_owned(),
        "git@github.com:owner/repo.git and ssh://git@example.com/x".to_owned(),
        "https://example.com/@scope/package@1.2.3".to_owned(),
        "http://localhost:3000/users?x=a@b.c".to_owned(),
        "Authorization: Bearer <token>".to_owned(),
        "Authorization: `Bearer ${token}`".to_owned(),
        "the bearer of good news, basic authentication, cookie: string".to_owned(),
        "Cookie: name=value; Path=/".to_owned(),
        "mysql -u root -p app; docker run -p8080:80 mysql -p3306:3306".to_owned(),
        "curl -u \"$USER:$PASS\" https://example.com".to_owned(),
        "--password string   Password for the user".to_owned(),
        "`--token <TOKEN>` sets the token".to_owned(),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
        "sk-learn and task-specific-code-with-a-long-name".to_owned(),
        "eyJ is how a JWT begins, as in eyJhbGciOiJIUzI1NiJ9...".to_owned(),
        "if (pem.includes('-----BEGIN PRIVATE KEY-----')) { throw new Error('no') }".to_owned(),
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----".to_owned(),
        "wrap it in `<private>` and `</private>`, as in <privateKey>".to_owned(),
        "PWD=/home/dev/project OLDPWD=/tmp".to_owned(),
        "✓ pass: 1204 fail: 0 PASS: src/a.test.ts".to_owned(),
        "primary_key=\"user_id\", foreign_key: 'account_id'".to_owned(),
        "keyboard.press_key = 'ArrowDown'".to_owned(),
    ];
    let wrong: Vec<_> =
        texts.iter().filter(|text| scrub(text) != **text).map(|text| format!("{text} -> {}", scrub(text))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn private_keys_are_redacted_completely() {
    let line = |seed| body(64, seed);
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n{}\n{}==\n-----END RSA PRIVATE KEY-----",
        line(60),
        line(61),
        body(18, 62)
    );
    let encrypted = key.replacen(
        "-----\n",
        "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C3D4E5F60718293A4B5C6D7E8F9\n\n",
        1,
    );
    let lines: Vec<_> = key.lines().collect();
    let numbered = format!("     1→{}", lines.join("\n    12→"));
    let added = format!("+{}", lines.join("\n+"));
    for key in [
        key.clone(),
        encrypted,
        key.replace('\n', "\\n"),
        key.replace('\n', "\\\\n"),
        key.replace('\n', "\r\n"),
        numbered,
        added,
    ] {
        let text = format!("before \"{key}\" behind");
        let scrubbed = scrub(&text);
        assert!(scrubbed.contains("[redacted:private-key]"), "{text}");
        for seed in 60..62 {
            assert!(!scrubbed.contains(&line(seed)[..12]), "{text} -> {scrubbed}");
        }
        assert!(!scrubbed.contains(&body(18, 62)), "{text} -> {scrubbed}");
        assert!(scrubbed.starts_with("before ") && scrubbed.ends_with(" behind"), "{scrubbed}");
    }
    let torn = format!("-----BEGIN PRIVATE KEY-----\n{}\n{}\n\nand then prose", line(63), line(64));
    assert_eq!(scrub(&torn), "[redacted:private-key]\n\nand then prose");
}

#[test]
fn private_parts_are_redacted_completely() {
    for (text, scrubbed) in [
        ("a <private>b\nc</private> d", "a [redacted:private] d"),
        ("a <PRIVATE>b</Private> d", "a [redacted:private] d"),
        ("a <private reason=\"x\">b</private> d", "a [redacted:private] d"),
        ("a <private>b <private>c</private> d</private> e", "a [redacted:private] e"),
        ("a <private>never closed\nb", "a [redacted:private]"),
        ("a \\u003cprivate\\u003eb\\u003c/private\\u003e c", "a [redacted:private] c"),
        ("비공개 <private>내용</private> 끝", "비공개 [redacted:private] 끝"),
    ] {
        assert_eq!(scrub(text), scrubbed);
    }
}

#[test]
fn rules_of_form_take_precedence_over_rules_of_context() {
    let token = format!("ghp_{}", body(36, 70));
    assert_eq!(scrub(&format!("GITHUB_TOKEN={token}")), "GITHUB_TOKEN=[redacted:github-token]");
    assert_eq!(scrub(&format!("https://x:{token}@github.com/a/b")), "https://x:[redacted:github-token]@github.com/a/b");
}

#[test]
fn the_aws_secret_next_to_its_id_is_redacted() {
    let (id, secret) = (format!("AKIA{}", upper(16, 80)), format!("{}/{}+{}", body(19, 81), body(10, 82), body(9, 83)));
    assert_eq!(scrub(&format!("{id},{secret}\n")), "[redacted:aws-access-token],[redacted:aws-secret-key]\n");
}

#[test]
fn findings_count_by_rule() {
    let token = |seed| format!("ghp_{}", body(36, seed));
    let texts = ["nothing".to_owned(), format!("{} {} password='hunter22'", token(90), token(91))];
    let redacted = redact(&texts, &TeamRules::empty());
    assert_eq!(redacted[0], Redacted { text: None, findings: Vec::new() });
    let found: Vec<_> = redacted[1].findings.iter().map(|finding| (finding.rule.as_str(), finding.count)).collect();
    assert_eq!(found, [("generic-password", 1), ("github-token", 2)]);
}

/// Returns the first keyword of every rule that has its own matcher, and of one token rule.
fn keyword_of_each_matcher() -> Vec<&'static str> {
    let mut tokens = 0;
    let own = |rule: &&rules::RuleEntry| {
        tokens += usize::from(matches!(rule.matcher, rules::Matcher::Token(_)));
        !matches!(rule.matcher, rules::Matcher::Token(_)) || tokens == 1
    };
    rules::RULES.iter().filter(own).map(|entry| entry.rule.keywords[0]).collect()
}

/// Returns how long this thread has worked, or what the clock says where the system does not tell. On a busy machine the clock also counts
/// the work of others.
fn worked() -> Duration {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map_or_else(|| BEGUN.elapsed(), Duration::from_nanos)
}

#[test]
fn a_line_of_nothing_but_keywords_is_linear() {
    /// Returns the fastest of a few runs over a text of about that many bytes. Noise can only slow a run down.
    fn fastest(piece: &str, length: usize) -> Duration {
        let text = piece.repeat(length / piece.len());
        let run = || {
            let begun = worked();
            find_secrets(&text, &TeamRules::empty(), Context::Any);
            worked().saturating_sub(begun)
        };
        (0..2).map(|_| run()).min().unwrap_or_default()
    }
    for keyword in keyword_of_each_matcher() {
        for joint in ["", " ", "=", ":", ": 'x", "/", "@", " PRIVATE KEY-----", "Aa1Bb2Cc3"] {
            let piece = format!("{keyword}{joint}");
            // For four times the text, a linear matcher takes four times as long, and a quadratic one sixteen times. A quadratic one
            // never passes, however often it is tried; a linear one may be slowed down by others.
            let is_linear = (0..4).any(|_| {
                let short = fastest(&piece, 4_000).max(Duration::from_millis(5));
                fastest(&piece, 16_000) < short * 11
            });
            assert!(is_linear, "{piece}");
        }
    }
}

/// Pieces from which awkward texts are assembled.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("<private>".to_owned()),
        Just("</private>".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("-----END PRIVATE KEY-----".to_owned()),
        Just("[redacted:jwt]".to_owned()),
        Just("[redacted:".to_owned()),
        Just("://".to_owned()),
        Just("@tcp(".to_owned()),
        Just("--password ".to_owned()),
        Just("curl -u a:".to_owned()),
        Just("mysql -p".to_owned()),
        Just("Cookie: a=".to_owned()),
        Just("Authorization: Basic ".to_owned()),
        Just("bearer ".to_owned()),
        Just("eyJhbGciOiJIUzI1NiJ9.eyJ".to_owned()),
        Just("한글".to_owned()),
        (0u32..8).prop_map(|seed| format!("ghp_{}", body(36, seed))),
        (0u32..8).prop_map(|seed| format!("AKIA{}", upper(16, seed))),
        (0u32..8, 3usize..70).prop_map(|(seed, length)| body(length, seed)),
        "(api_key|password|DB_PASS|token|secret|x_key)",
        "(4539 5787 6362 1486|900101-1234568|123-45-6789|[0-9]{3,7}[- ])",
        "(the password is |setPassword\\(|identified by |value=|requirepass | set )",
        "[ =:\"'\\\\,;&@/\n<>|()`.$-]{1,3}",
        "\\PC{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn twice_is_once(pieces in prop::collection::vec(piece(), 0..24)) {
        let once = scrub(&pieces.concat()).into_owned();
        let twice = scrub(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn any_text_is_handled(text in "\\PC{0,200}") {
        let once = scrub(&text).into_owned();
        let twice = scrub(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn a_token_never_survives_in_part(
        before in prop::collection::vec(piece(), 0..6),
        behind in prop::collection::vec(piece(), 0..6),
        seed in 100u32..200,
    ) {
        let token = format!("glpat-{}", body(24, seed));
        let scrubbed = scrub(&format!("{} {token} {}", before.concat(), behind.concat())).into_owned();
        prop_assert!(!scrubbed.contains(&token[token.len() - 12..]), "{}", scrubbed);
        prop_assert!(!scrubbed.contains(&token[6..18]), "{}", scrubbed);
    }
}

/// Commands with a password of a form of their own, `@` for the password.
const COMMANDS_WITH_PASSWORDS: &[&str] = &[
    "curl -u admin:@ https://shop.example/api",
    "curl -sS --user admin:@ https://shop.example/api",
    "curl -fsSLu admin:@ https://shop.example/api",
    "curl -uadmin:@ https://shop.example/api",
    "wget --http-user=admin --http-password=@ https://shop.example/a",
    "redis-cli -a @ ping",
    "redis-cli -h cache -p 6380 -a '@' GET x",
    "REDISCLI_AUTH=@ redis-cli ping",
    "mongosh -u root -p @ admin",
    "mongosh --username root --password @ admin",
    "mongodump -u root -p@ --db shop",
    "unzip -P @ archive.zip",
    "unzip -oP @ archive.zip",
    "zip -P @ out.zip a",
    "7z x -p@ a.7z",
    "openssl enc -aes-256-cbc -k @ -in a -out b",
    "openssl enc -d -aes-256-cbc -pass pass:@ -in a",
    "openssl rsa -passin pass:@ -in key.pem",
    "http -a admin:@ GET shop.example/api",
    "http --auth admin:@ shop.example/api",
    "http --auth=admin:@ shop.example/api",
    "http GET shop.example/api -a admin:@",
    "https -v -a admin:@ shop.example/api",
    "xh -a admin:@ shop.example/api",
    "ldapsearch -x -D cn=admin -w @ -b dc=shop",
    "smbclient //files/share -U admin%@ -c ls",
    "smbclient -L files -U 'SHOP\\admin%@'",
    "deploy --password @ --verbose",
    "deploy --password=@",
    "./bin/shopctl login --user admin --secret @",
    "shopctl rotate --secret=@",
    "shopctl login --passphrase @",
    "shopctl login --pass @",
    "shopctl login --db-password @ --force",
    "shopctl login --client-secret @",
    "passwd admin <<< @",
    "passwd admin <<<\"@\"",
    "sudo -S systemctl restart nginx <<< @",
    "echo @ | docker login -u admin --password-stdin registry.example",
    "echo '@' | docker login -u admin --password-stdin",
    "printf '%s' @ | docker login -u admin --password-stdin",
    "printf '%s\\n' \"@\" | podman login --password-stdin registry.example",
    "docker login --password-stdin registry.example <<< @",
    "echo @ | sudo -S apt update",
    "echo admin:@ | sudo chpasswd",
    "docker login -u admin -p @ registry.example",
    "sshpass -p @ ssh admin@shop.example",
    "sshpass -p@ ssh admin@shop.example",
    "mysql -u root -p@ shop",
    "mysql -u root --password=@ shop",
    "PGPASSWORD=@ psql -U shop",
    "psql postgresql://shop:@@db.example/shop",
    "htpasswd -b .htpasswd admin @",
    "gpg --batch --passphrase @ -d a.gpg",
    "keytool -list -keystore a.jks -storepass @",
    "ansible-playbook -e ansible_become_pass=@ site.yml",
    "rsync --password-file=<(echo @) a b",
    "net use Z: \\\\files\\share @ /user:admin",
    "snmpget -v3 -u admin -A @ host oid",
    "git clone https://admin:@@git.example/shop.git",
    "lftp -u admin,@ ftp.example",
    "sqlcmd -S db -U sa -P @ -Q 'select 1'",
    "wpa_passphrase home @",
    "kinit admin <<< @",
    "Invoke-Sqlcmd -Username sa -Password @ -Query x",
    "cryptsetup open /dev/sdb1 x <<< @",
    "aws iam create-login-profile --user-name admin --password @",
    "fly secrets set DB_PASSWORD=@",
    "fly secrets set --app shop LOG_LEVEL=info SESSION_KEY='@' OTHER=x",
    "flyctl secrets set PLAIN=\"@\"",
    "heroku config:set ADMIN=@ --app shop",
    "ansible-vault encrypt_string '@' --name db",
    "ansible-vault encrypt_string --vault-id vault.txt --name db '@'",
    "ansible-vault encrypt_string --vault-password-file vault.txt @",
    "ansible-vault encrypt_string --stdin-name db <<< '@'",
    "qpdf --encrypt @ owner7 256 -- in.pdf out.pdf",
    "qpdf in.pdf --encrypt '' @ 256 -- out.pdf",
    "pass insert -e shop/admin <<< @",
    "vercel env add DB_KEY production <<< '@'",
    "read -rs KEY <<< @",
    "keytool -import -alias shop -keystore a.jks <<< @",
    "chpasswd <<EOF\namy:@\nEOF",
    "sudo chpasswd <<'EOF'\namy:early2024!\nben:@\nEOF",
    "sudo -S reboot <<EOF\n@\nEOF",
    "kinit amy << EOF\n@\nEOF",
    "kinit amy <<\\PASSWORD\n@\nPASSWORD",
    "chpasswd <<USERS\namy:@\nUSERS",
    "chpasswd <<-'TILL_USERS'\n\t\tamy:early2024!\n\t\tben:@\n\tTILL_USERS",
    "docker login -u amy --password-stdin <<-PW | tee login.log\n\t@\nPW",
    "smbpasswd -s amy << 'END OF LIST'\n@\nEND OF LIST",
    "docker login registry.example -u amy --password-stdin <<EOF && docker push registry.example/shop/till-of-the-first-floor:2024.10.1 && docker push registry.example/shop/till-of-the-first-floor:latest && docker image prune\n@\nEOF",
    "kinit amy <<EOF \\\n  && klist\n@\nEOF",
    "docker login -u amy --password-stdin \\\n  registry.example <<EOF\n@\nEOF",
    "cat <<EOF \\\n | sudo chpasswd\namy:@\nEOF",
    "sudo -S chpasswd <<EOF\n@\namy:early2024!\nEOF",
    "sudo -S chpasswd <<EOF\nearly2024!\namy:@\nEOF",
    "chpasswd <<EOF\n# tills\n\nnobody\namy:@\nEOF",
    "chpasswd <<!\namy:@\n!",
    "cat <<EOF | sudo chpasswd\namy:@\nEOF",
    "cat <<EOF | tr -d '\\n' | kinit amy\n@\nEOF",
    "head -c $((1<<3)) <<EOF | kinit amy\n@\nEOF",
    "kinit -l $((1<<hours)) amy <<EOF\n@\nEOF",
    "chpasswd <<EOF\r\namy:@\r\nEOF\r\n",
    "cat <<A >a.txt; kinit amy <<B\ntill\nA\n@\nB",
    "    - run: |\n        kinit amy <<EOF\n        @\n        EOF",
    "  3\u{2192}chpasswd <<EOF\n  4\u{2192}amy:@\n  5\u{2192}EOF",
    "+chpasswd <<EOF\n+amy:@\n+EOF",
    "$ kinit amy <<EOF\n> @\n> EOF",
    "bash -c 'chpasswd <<EOF\namy:@\nEOF'",
];

/// Texts in which a name says that a value with digits is a password: `@` for the password.
const STATED: &[&str] = &[
    "stringData:\n  password: |\n    @\n  user: amy",
    "password: >-\n  @",
    "password: |2-\r\n  @",
    "password: &pw @",
    "password: !!str @",
    "<key>Password</key>\n\t<string>@</string>",
    "jwt.sign(user, process.env.JWT_SECRET || '@')",
    "connect(process.env['DB_PASSWORD'] ?? \"@\")",
    "비밀번호는@입니다",
    "비번은@이에요",
    "password＝@",
    "pw is @",
    "PW is @\nThanks",
];

#[test]
fn attack_passwords_below_and_behind_their_names() {
    let mut missed = Vec::new();
    for form in STATED {
        for password in ["Summer2024!", "Xq7vN2mK9pL4wR"] {
            let text = form.replace('@', password);
            for text in [text.clone(), serde_json::json!({ "text": text }).to_string()] {
                if scrub(&text).contains(password) {
                    missed.push(format!("{text} → {}", scrub(&text)));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

/// Commands and texts in which a word is only a password if it looks like one, `@` for the password and `§` for an `@`.
const JUDGED: &[&str] = &[
    "shopctl login -u amy -p @",
    "shopctl -u amy -p '@' list",
    "shopctl login --username amy -p @ --force",
    "shopctl login --user=amy -p @",
    "amy:@§db.internal:5432",
    "connect to amy:@§10.0.0.5 now",
    "the login is amy:@§shop.example.",
    "amy:@§localhost",
];

#[test]
fn attack_logins_whose_parts_only_stand_beside_each_other() {
    let mut missed = Vec::new();
    for template in JUDGED {
        for password in ["Summer2024!", "Tr0ub4dor&3x", "V2YtjJWwYFXHscS8", "maple884*"] {
            let text = template.replace('@', password).replace('§', "@");
            for text in [text.clone(), serde_json::json!({ "text": text }).to_string()] {
                if scrub(&text).contains(password) {
                    missed.push(format!("{text} → {}", scrub(&text)));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn attack_pins_beside_their_word() {
    let mut missed = Vec::new();
    for template in [
        "my PIN @ opens it",
        "PIN: @",
        "PIN=@",
        "pin=@",
        "{\"pin\": \"@\"}",
        "{\"passcode\": @}",
        "the passcode is @.",
        "passcode @",
        "The PIN for the alarm is @",
        "PIN code: `@`",
        "the PIN is now @, tell amy",
        "@ is the PIN",
        "use @ as my passcode",
        "SIM PIN (@)",
    ] {
        for pin in ["4711", "83920", "471108"] {
            let text = template.replace('@', pin);
            for text in [text.clone(), serde_json::json!({ "text": text }).to_string()] {
                if scrub(&text).contains(pin) {
                    missed.push(format!("{text} → {}", scrub(&text)));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn look_alikes_of_logins_and_pins_stay() {
    let lost: Vec<_> = LOOK_ALIKES_OF_LOGINS_AND_PINS.iter().map(|text| scrub(text)).collect();
    assert_eq!(lost, LOOK_ALIKES_OF_LOGINS_AND_PINS);
}

const LOOK_ALIKES_OF_LOGINS_AND_PINS: &[&str] = &[
    "the PIN has 4 to 6 digits",
    "a PIN needs 4711 bytes",
    "PIN length: 4",
    "connect PIN 14 of the header to ground",
    "gpio pin 1024 does not exist",
    "pin 2024.1 of the toolchain",
    "pin: 1.2.3",
    "pin the version to 1234",
    "PIN_MAX=1024",
    "spin: 4711 and mapping = 1234",
    "ping: 1234 ms",
    "pins: 1234-5678-a",
    "the passcode screen shows 1024 icons",
    "passcode length is 6",
    "fly secrets list",
    "fly secrets unset DB_PASSWORD",
    "fly secrets set DB_PASSWORD=$DB_PASSWORD",
    "fly secrets set DB_PASSWORD=<value>",
    "ansible-vault encrypt vars/prod.yml",
    "ansible-vault encrypt_string --stdin-name db_password",
    "qpdf --decrypt in.pdf out.pdf",
    "qpdf --encrypt \"\" \"$OWNER\" 256 -- in.pdf out.pdf",
    "gpg --encrypt --recipient amy notes2024.txt",
    "docker run -u 1000 -p 8080:80 nginx",
    "docker run -u node -p 127.0.0.1:8080:80 node",
    "mysql -u root -p shop2024",
    "sudo -u postgres mkdir -p build2024/Out9",
    "ps -u root -p 1234567",
    "shopctl build -u amy -p staging",
    "shopctl build -u amy -p web-2",
    "jq . <<< '{\"a\": 12345678}'",
    "bc <<< 2024*3",
    "wc -c <<< hello2world",
    "cat > notes.txt <<EOF\nhello2world\nEOF",
    "sudo tee /etc/shop.conf <<EOF\nport8080\nEOF",
    "sudo -S tee /etc/shop.conf <<EOF\nlisten on 8080\nEOF",
    "sudo tee -a /etc/passwd <<EOF\namy:x:1001:1001::/home/amy:/bin/bash\nEOF",
    "sudo -S true <<EOF\nEOF",
    "sudo -S true <<Till2024x\nTill2024x",
    "chpasswd <<-Till2024x\n\tTill2024x",
    "sudo -S true; cat <<<a\nOpen2024x",
    "cryptsetup open a b\ncat <<X\nOpen2024x\nX",
    "cryptsetup resize a $((1 << 20))\nOpen2024x",
    "cryptsetup resize a $((1 << bits))\nOpen2024x",
    "log << \"kinit: \" << name;\n\treturn2024();",
    "\tlog << \"kinit: \" << name;\n\tgoto done2024;\n\tstate2024->next();",
    "    log << \"kinit: \" << name;\n    Open2024x\n    name",
    "bits <<= kinit;\nOpen2024x",
    "cat > a.conf <<EOF && sudo -S reboot\nport8080\nEOF",
    "chpasswd <<EOF\namy:$PASSWORD\nEOF\nport:Open2024x",
    "{\"command\":\"kinit <<EOF\"}\n{\"kind\":\"Open2024x\"}",
    "{\"command\":\"kinit <<EOF\"}\nOpen2024x",
    "| user | password: |\n| --- | --- |",
    "password: |\n  The password must have 8 characters.",
    "fn login(password: &mut String2, token: &dyn Hash256) {}",
    "errors.password || 'Use 8 characters or more'",
    "const label = props.password ?? 'optional';",
    "<key>Password</key>\n<true/>",
    "비밀번호는8자이상이어야 합니다",
    "비밀번호는argon2로 저장합니다",
    "example.pw is 10.0.0.1",
    "pw is required in step2",
    "npm:react@18.2.0",
    "pkg:npm/lodash@4.17.21",
    "image:tag@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "email:amy2024@shop.example",
    "mailto:amy.smith+news2@shop.example",
    "git@github.com:owner/repo2024.git",
    "12:30:45 amy@host2",
    "host:8080@eu-west-1",
    "src/main.rs:12:amy@db.internal",
];

/// The last is one that nothing but its position gives away.
const PASSWORDS: &[&str] = &["Summer2024!", "tr0ub4dor", "hunter2hunter", "correcthorse"];

#[test]
fn passwords_on_command_lines_are_redacted() {
    let mut missed = Vec::new();
    for command in COMMANDS_WITH_PASSWORDS {
        for password in PASSWORDS {
            let command = command.replace('@', "\u{0}").replacen('\u{0}', password, 1).replace('\u{0}', "@");
            for text in [command.clone(), serde_json::json!({ "command": command }).to_string()] {
                if scrub(&text).contains(password) {
                    missed.push(format!("{text} → {}", scrub(&text)));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn attack_colours_and_invisible_characters_inside_a_token() {
    let (head, tail) = ("AKIA", upper(16, 1));
    for hidden in [
        "\u{1b}[0m",
        "\u{1b}[38;2;1;2;3m",
        "\u{9b}0m",
        "\u{1b}(B",
        "\\u001b[0m",
        "\\\\u001b[0m",
        "\\x1b[31m",
        "\\033[1;31m",
        "\\e[0m",
        "\u{200b}",
        "\u{200d}",
        "\u{2060}",
        "\u{feff}",
        "\u{ad}",
        "\u{202e}",
    ] {
        for text in [
            format!("key {head}{hidden}{tail} end"),
            format!("\u{1b}[31m{head}{hidden}{}{hidden}{}\u{1b}[0m end", &tail[..7], &tail[7..]),
            format!("DB_PASSWORD={hidden}Summer{hidden}2024! end"),
        ] {
            let scrubbed = scrub(&text);
            assert!(scrubbed.contains("[redacted:") && scrubbed.ends_with(" end"), "{text:?} → {scrubbed:?}");
            assert!(!scrubbed.contains(&tail[7..]) && !scrubbed.contains("2024"), "{text:?} → {scrubbed:?}");
        }
    }
    // What hides nothing stays.
    for text in ["\u{1b}[31mred\u{1b}[0m", "a\u{200b}b", "print(\"\\x1b[0m\")"] {
        assert_eq!(scrub(text), text);
    }
}

#[test]
fn attack_a_password_that_is_named_once_and_stands_alone_elsewhere() {
    let typed = "I typed `Summer2024!` into the till, then Summer2024!. summer2024 is over";
    let told = "I typed `[redacted:generic-password]` into the till, then [redacted:generic-password]. summer2024 is over";
    assert_eq!(
        scrub(&format!("{typed}\nThe password: Summer2024!")),
        format!("{told}\nThe password: [redacted:generic-password]")
    );
    // The tag of an earlier placeholder tells it, too, and a word that anybody may write is none.
    let again = tag::with_key([7; 16], || {
        let placed = scrub("The password: Summer2024!").into_owned();
        scrub(&format!("{placed}\n{typed}")).into_owned()
    });
    assert!(!again.contains("Summer") && again.ends_with("summer2024 is over"), "{again}");
    assert!(scrub("password: hunter2, the hunter2 of the shop").ends_with("the hunter2 of the shop"));
    // Other texts are redacted as if they were alone.
    let texts = ["The password: Summer2024!", "Summer2024! it is"].map(str::to_owned);
    assert_eq!(redact(&texts, &TeamRules::empty())[1].text, None);
}

#[test]
fn attack_a_known_password_in_parts_and_between_signs() {
    for part in [
        "Summer\u{200b}2024!",
        "Sum\u{ad}mer2024!",
        "Summer**2024!**",
        "**Summer**2024!",
        "`Summer`2024!",
        "Summer2024\\!",
        "Sum\u{200b}mer**2024!**",
        "__Summer__2024!",
    ] {
        let scrubbed = scrub(&format!("The password: Summer2024! is set. I typed {part} into the till.")).into_owned();
        assert!(!scrubbed.contains("Sum") && !scrubbed.contains("2024"), "{part:?} → {scrubbed:?}");
        assert!(scrubbed.ends_with(" into the till."), "{part:?} → {scrubbed:?}");
    }
    // The tag alone tells it.
    tag::with_key([7; 16], || {
        let placed = scrub("The password: Summer2024!").into_owned();
        for typed in [
            "(Summer2024!)",
            "Summer2024!;",
            "Summer2024!:",
            "**Summer2024!**",
            "Summer**2024!**",
            "Summer\u{200b}2024!",
            "admin/Summer2024!",
            "admin:Summer2024!",
            "-pSummer2024!",
            "{\"it\":\"Summer2024!\"}",
            "Summer2024!で",
        ] {
            let text = scrub(&format!("{placed}\ntyped {typed} into the till")).into_owned();
            assert!(text.starts_with(&placed), "a placeholder stays");
            assert!(!text.contains("Summer") && !text.contains("2024!"), "{typed:?} → {text:?}");
            assert_eq!(scrub(&text), text);
        }
    });
}

#[test]
fn a_known_password_without_a_sign_stays_in_words_and_paths() {
    let kept =
        "drawer2024_prod, slips/drawer2024_init.sql, release/drawer2024, drawer2024.sql, Drawer2024s and new-drawer2024";
    let said = "The admin password: drawer2024 was set";
    assert_eq!(scrub(&format!("{said}. {kept}")), format!("{}. {kept}", scrub(said)));
    for alone in [
        "log in with drawer2024.",
        "drawer2024, as said",
        "(drawer2024)",
        "admin:drawer2024@shop",
        "一drawer2024で",
        "a\\ndrawer2024\\n",
    ] {
        let scrubbed = scrub(&format!("{said}. {alone}")).into_owned();
        assert!(!scrubbed.contains("drawer2024"), "{scrubbed}");
    }
    // What is no word is a secret anywhere.
    let scrubbed = scrub("The admin password: V2YtjJWwYFXHscS8 was set, see /drawer/V2YtjJWwYFXHscS8/slips").into_owned();
    assert!(!scrubbed.contains("V2YtjJWw") && scrubbed.ends_with("/slips"), "{scrubbed}");
}

#[test]
fn a_password_in_a_code_block_belongs_to_the_line_before_it() {
    for text in [
        "The admin password is:\n```\nhunter2drawer\n```",
        "The temporary password of the till is:\n\n```text\nhunter2drawer\n```\nKeep it.",
        r#"{"said":"The admin password is:\n\n```\nhunter2drawer\n```"}"#,
        "비밀번호:\n\n```\nhunter2drawer\n```",
    ] {
        let scrubbed = scrub(text);
        assert!(!scrubbed.contains("hunter2drawer") && scrubbed.contains("```"), "{text} → {scrubbed}");
    }
    for text in ["The password is:\n```sh\ntill open\n```", "The password is:\n```", "The password is:\n```text"] {
        assert_eq!(scrub(text), text);
    }
}

#[test]
fn what_follows_a_subject_of_passwords_is_no_password() {
    for text in [
        "password column: VarChar255 now, as VarChar255 is what the drawer has",
        "password reset: ResetV2Page is the page, and `ResetV2Page` is linked",
        "Password rules: Length8To64 now stands in the docs",
        "password field: required12 was renamed, and required12 is gone",
        "password policy: Min8Chars! is checked, and Min8Chars! is gone",
        "password dialog: Till2LoginView replaced the drawer",
    ] {
        assert_eq!(scrub(text), text);
    }
    for said in ["password again: Summer2024!", "Contraseña nueva: Herbst2025Blau"] {
        assert!(scrub(said).contains("[redacted:"), "{said}");
    }
}

#[test]
fn each_rule_is_counted_once_in_the_findings() {
    let texts = [
        "token: V2YtjJWwYFXHscS8x and password: Summer2024!".to_owned(),
        "I typed Summer2024! and password: Autumn2023! and Summer2024!".to_owned(),
        format!("ghp_{} and Summer2024! and Autumn2023!", body(36, 1)),
    ];
    for redacted in redact(&texts, &TeamRules::empty()) {
        let rules: Vec<&str> = redacted.findings.iter().map(|finding| finding.rule.as_str()).collect();
        assert!(rules.is_sorted_by(|one, next| one < next), "{rules:?}");
    }
    let mut findings = Vec::new();
    for (rule, count) in [("till", 1), ("drawer", 2), ("till", 3), ("slip", 1), ("drawer", 1)] {
        add_finding(&mut findings, rule, count);
    }
    let told: Vec<(&str, u32)> = findings.iter().map(|it| (it.rule.as_str(), it.count)).collect();
    assert_eq!(told, [("drawer", 3), ("slip", 1), ("till", 4)]);
}

/// Ways to say a password that the rules once missed, `@` for the password.
const SAID: &[&str] = &[
    "log in as admin with @",
    "Log in as admin with @ and check the orders.",
    "please sign in as `root` using the password @.",
    "login with amy@shop.example and @",
    "The admin password was changed from @ to Autumn2023! yesterday",
    "the password was changed from Autumn2023! to @",
    "db credentials rotated from Autumn2023! to @.",
    "비밀번호: @",
    "비번은 @ 입니다",
    "비번: @",
    "패스워드는 @이에요",
    "패스워드: @",
    "암호: @",
    "パスワードは@です",
    "パスワード: @",
    "パスワード：@",
    "密码是@",
    "密码: @",
    "密码：@",
    "密碼為@",
    "Das Passwort ist @",
    "Das Passwort lautet @.",
    "Passwort: @",
    "Kennwort: @",
    "La contraseña es @",
    "contraseña: @",
    "Le mot de passe est @",
    "Mot de passe permanent : `@` — défini",
    "Contraseña nueva: @",
    "Passwort für den Laden: @",
    "user,password,role\namy,@,admin\nbob,Autumn2023!,user",
    "Remember for later: user,password,role\namy,@,admin",
    "id;user;password\n1;amy;@",
    "user\tpassword\namy\t@",
    "| user | password |\n| --- | --- |\n| amy | @ |",
    "| user | password | note |\n|------|----------|------|\n| amy | `@` | main |",
    " id | name | password \n----+------+----------\n  1 | amy  | @ ",
    "이름,비밀번호\n나비,@",
    "| 계정 | 비밀번호 |\n|---|---|\n| amy | @ |",
    "WIFI:T:WPA;S:home;P:@;;",
    "WIFI:S:home net;T:WPA;P:@;H:true;;",
    "expect \"assword:\"\nsend \"@\\r\"",
    "expect \"assword:\"\nsend -- \"@\\r\"",
    "expect {*assword:*} {send {@\\r}}",
    "child.expect('assword')\nchild.sendline('@')",
    "expect 'Enter password:'\nsend '@\\r'",
];

#[test]
fn attack_passwords_that_are_said_in_other_words() {
    let mut missed = Vec::new();
    for said in SAID {
        for password in ["Summer2024!", "Tr0ub4dor&3x", "Herbst2025Blau"] {
            let text = if said.contains("amy@") {
                said.replacen("amy@", "amy\u{0}", 1).replace('@', password).replace('\u{0}', "@")
            } else {
                said.replace('@', password)
            };
            // In JSON, a tab is two letters.
            let json = (!text.contains('\t')).then(|| serde_json::json!({ "text": text }).to_string());
            for text in [text].into_iter().chain(json) {
                if scrub(&text).contains(password) {
                    missed.push(format!("{text} → {}", scrub(&text)));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn attack_passwords_in_other_scripts_hashes_and_webhooks() {
    let hash = body(86, 3);
    let mut texts = vec![
        ("비밀번호: 나비야1234!".to_owned(), "나비야1234".to_owned()),
        ("비번은 나비야1234! 입니다".to_owned(), "나비야1234".to_owned()),
        ("패스워드: 고양이2024".to_owned(), "고양이2024".to_owned()),
        ("パスワードは さくら2024! です".to_owned(), "さくら2024".to_owned()),
        (format!("root:$6$rounds=5000$Qm4xLs7T${hash}:19000:0:99999:7:::"), hash.clone()),
        (format!("amy:$6$Zk3xQ9Lm${hash}"), hash.clone()),
        (format!("amy:$apr1$Zk3xQ9Lm${}", &hash[..22]), hash[..22].to_owned()),
        (format!("amy:$1$Zk3xQ9Lm${}", &hash[..22]), hash[..22].to_owned()),
        (format!("amy:$5$Zk3xQ9Lm${}", &hash[..43]), hash[..43].to_owned()),
        (format!("$argon2id$v=19$m=65536,t=3,p=4${}${}", &hash[..22], &hash[..43]), hash[..43].to_owned()),
        ("my PIN is 4711".to_owned(), "4711".to_owned()),
        ("The door code: 829140".to_owned(), "829140".to_owned()),
        ("暗証番号: 4711".to_owned(), "4711".to_owned()),
        ("핀번호: 4711".to_owned(), "4711".to_owned()),
    ];
    for address in [
        "https://hook.eu1.make.com/@",
        "https://maker.ifttt.com/trigger/done/with/key/@",
        "https://chat.shop.example/hooks/@",
        "https://n8n.shop.example/webhook/@",
        "https://open.feishu.cn/open-apis/bot/v2/hook/@",
        "https://oapi.dingtalk.com/robot/send?access_token=@",
        "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=@",
        "https://prod-12.westeurope.logic.azure.com:443/workflows/1/triggers/manual/paths/invoke?api-version=1&sig=@",
        "https://chat.googleapis.com/v1/spaces/AAA/messages?key=x&token=@",
    ] {
        let key = body(30, 7);
        texts.push((format!("curl -X POST {}", address.replace('@', &key)), key));
    }
    for (text, secret) in texts {
        let scrubbed = scrub(&text);
        assert!(!scrubbed.contains(&secret), "{text} → {scrubbed}");
    }
}

#[test]
fn look_alikes_of_what_is_said_in_other_words_stay() {
    for text in [
        "log in as admin with MFA",
        "log in as root with id_ed25519",
        "sign in as the user with OAuth2",
        "log in with GitHub and open version 2.10.3",
        "the file was changed from a1b2c3d4 to e5f6a7b8",
        "the password policy was changed from 8 to 12 characters",
        "password hashing was changed from sha256 to argon2id",
        "changed from v1.2.3 to v1.3.0",
        "name,password_hash,role\namy,none,admin",
        "| option | password | default |\n| --- | --- | --- |\n| auth | required | none |",
        "token,count\nthe,12345678\nand,1234567",
        "비밀번호는 2026년까지 유효합니다",
        "비밀번호는 영문 8자 이상이어야 합니다",
        "パスワードは8文字以上です",
        "密码是必填项",
        "Das Passwort ist falsch",
        "La contraseña es incorrecta",
        "wifi: connected to home",
        "send \"hello\" to the server",
        "socket.send('ready-2024')",
        "the GPIO pin is high",
        "price $6$ and $1$",
        "https://git.shop.example/hooks/pre-commit",
        "docs/hooks/README.md",
    ] {
        assert_eq!(scrub(text), text);
    }
}

#[test]
fn sentences_about_options_stay() {
    for text in [
        "--password string   Password for the user",
        "Use --password to set the password.",
        "the --password option is required",
        "pass --secret generic to it",
        "docker build --secret id=npmrc,src=/home/dev/.npmrc .",
        "gcloud run deploy --secret db-password",
        "docker login --password-stdin registry.example",
        "mysql --password -u root",
        "curl -u \"$USER:$PASS\" https://shop.example",
        "openssl rsa -check -in key.pem",
        "git log -a main",
        "http -a is short for --auth",
    ] {
        assert_eq!(scrub(text), text);
    }
}
