//! The rules: a name, the keywords that wake it, and how it then looks for the secret.

use std::ops::Range;

use super::{
    assignment, block,
    command::{self, Style},
    scan::Scan,
    token::{self, Class, Token},
    value::Kind,
    web,
};

/// One rule. Its name stands in the placeholder; where gitleaks has a rule of the kind, it is named as there.
pub(super) struct Rule {
    pub id: &'static str,
    /// What any match holds, at least three bytes long, in any case. Matchers that care for case check it themselves.
    pub keywords: &'static [&'static str],
    pub matcher: Matcher,
}

impl Rule {
    /// The keyword that was met, as the table spells it.
    pub fn keyword_at(&self, bytes: &[u8], at: &Range<usize>) -> &'static str {
        self.keywords
            .iter()
            .find(|keyword| bytes[at.clone()].eq_ignore_ascii_case(keyword.as_bytes()))
            .copied()
            .unwrap_or_default()
    }
}

/// What a rule does where one of its keywords stands.
pub(super) enum Matcher {
    Token(Token),
    Assignment(Kind),
    Command(&'static [&'static str], Style),
    /// The keyword stands within the token: what goes before it (class, least, most), and behind (class, least).
    Inner((Class, usize, usize), (Class, usize)),
    /// The keyword is followed by the secret if this goes before it on the line.
    Follows(&'static [u8]),
    Custom(fn(&mut Scan, &'static Rule, Range<usize>)),
}

impl Matcher {
    pub fn run(&self, scan: &mut Scan, rule: &'static Rule, at: Range<usize>) {
        match self {
            Self::Token(token) => token.find(scan, rule, at),
            Self::Assignment(kind) => assignment::find(scan, rule, *kind, at),
            Self::Command(options, style) => command::find(scan, rule, at, options, *style),
            Self::Inner(before, after) => token::inner(scan, rule, at, *before, *after),
            Self::Follows(before) => command::follows(scan, rule, at, before),
            Self::Custom(matcher) => matcher(scan, rule, at),
        }
    }
}

const fn token(id: &'static str, keywords: &'static [&'static str], token: Token) -> Rule {
    Rule { id, keywords, matcher: Matcher::Token(token) }
}

const fn custom(
    id: &'static str,
    keywords: &'static [&'static str],
    matcher: fn(&mut Scan, &'static Rule, Range<usize>),
) -> Rule {
    Rule { id, keywords, matcher: Matcher::Custom(matcher) }
}

const fn rule(id: &'static str, keywords: &'static [&'static str], matcher: Matcher) -> Rule {
    Rule { id, keywords, matcher }
}

/// All rules. Where several have the same keyword at the same place, each is asked.
pub(super) const RULES: &[Rule] = &[
    custom("placeholder", &["[redacted:"], block::placeholder),
    custom("private", &["<private", "\\u003cprivate"], block::private),
    custom("private-key", &["-----BEGIN"], block::private_key),
    // Clouds
    custom("aws-access-token", &["AKIA", "ASIA", "ABIA", "ACCA"], token::aws),
    token("gcp-api-key", &["AIza"], Token::new(Class::Url, 35).bounded()),
    token("google-oauth-token", &["ya29."], Token::new(Class::Dotted, 20).bounded()),
    token("google-client-secret", &["GOCSPX-"], Token::new(Class::Url, 24)),
    rule("azure-ad-client-secret", &["8Q~", "7Q~"], Matcher::Inner((Class::Dotted, 3, 3), (Class::Dotted, 31))),
    token("alibaba-access-key-id", &["LTAI"], Token::exactly(Class::Alnum, 20).bounded()),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Token::new(Class::Hex, 40)),
    token("heroku-api-key", &["HRKU-"], Token::new(Class::Url, 36)),
    token("hashicorp-vault-token", &["hvs.", "hvb."], Token::new(Class::Url, 24).bounded()),
    rule("terraform-cloud-token", &[".atlasv1."], Matcher::Inner((Class::Alnum, 14, 14), (Class::Url, 60))),
    token("databricks-token", &["dapi"], Token::new(Class::Hex, 32).bounded()),
    token("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."], Token::new(Class::Dotted, 40).bounded()),
    token("fly-token", &["fm2_", "fo1_"], Token::new(Class::Base64, 40).bounded()),
    token("pulumi-token", &["pul-"], Token::exactly(Class::Hex, 40).bounded()),
    token("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Token::new(Class::Dotted, 30)),
    token("supabase-key", &["sbp_", "sb_secret_"], Token::new(Class::Url, 20).bounded()),
    token("netlify-token", &["nfp_"], Token::new(Class::Alnum, 30).bounded()),
    // Hosts of source code and packages
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Token::new(Class::Alnum, 30).bounded()),
    token("github-fine-grained-pat", &["github_pat_"], Token::new(Class::Url, 22)),
    token(
        "gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "gloas-"],
        Token::new(Class::Dotted, 18),
    ),
    token("bitbucket-token", &["ATBB"], Token::new(Class::Alnum, 28).bounded()),
    token("atlassian-token", &["ATATT3", "ATCTT3"], Token::new(Class::Base64, 60)),
    token("npm-token", &["npm_"], Token::exactly(Class::Alnum, 36).bounded()),
    token("pypi-token", &["pypi-AgE"], Token::new(Class::Url, 50)),
    token("rubygems-token", &["rubygems_"], Token::new(Class::Hex, 40)),
    token("crates-io-token", &["cio"], Token::exactly(Class::Alnum, 32).bounded().entropy(4.0)),
    token("docker-token", &["dckr_pat_", "dckr_oat_"], Token::new(Class::Url, 20)),
    // Chat and mail
    token(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxe.", "xoxo-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-"],
        Token::new(Class::Dotted, 16),
    ),
    token("slack-webhook", &["hooks.slack.com/services/"], Token::new(Class::Base64, 30)),
    token("slack-webhook", &["hooks.slack.com/workflows/"], Token::new(Class::Base64, 30)),
    token("discord-webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], Token::new(Class::Base64, 40)),
    rule("telegram-bot-token", &[":AA"], Matcher::Inner((Class::Digit, 8, 10), (Class::Url, 32))),
    token("sendgrid-token", &["SG."], Token::new(Class::Dotted, 50).bounded()),
    token("mailgun-token", &["key-"], Token::exactly(Class::Hex, 32).bounded()),
    // Payment and shops
    token("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], Token::new(Class::Alnum, 16)),
    token("stripe-webhook-secret", &["whsec_"], Token::new(Class::Base64, 24)),
    token("square-token", &["sq0atp-", "sq0csp-", "EAAAE"], Token::new(Class::Url, 22).bounded()),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], Token::new(Class::Hex, 32)),
    // Models
    token("anthropic-api-key", &["sk-ant-"], Token::new(Class::Url, 24)),
    token("openai-api-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], Token::new(Class::Url, 24)),
    token("openrouter-api-key", &["sk-or-v1-"], Token::new(Class::Hex, 40)),
    token("sk-api-key", &["sk-"], Token::new(Class::Alnum, 28).bounded()),
    token("huggingface-token", &["hf_"], Token::new(Class::Alnum, 30).bounded().entropy(3.5)),
    token("groq-api-key", &["gsk_"], Token::new(Class::Alnum, 40).bounded()),
    token("xai-api-key", &["xai-"], Token::new(Class::Alnum, 40).bounded()),
    token("replicate-token", &["r8_"], Token::exactly(Class::Alnum, 37).bounded()),
    token("perplexity-api-key", &["pplx-"], Token::new(Class::Alnum, 40)),
    token("together-api-key", &["tgp_v1_"], Token::new(Class::Url, 30)),
    token("nvidia-api-key", &["nvapi-"], Token::new(Class::Url, 40)),
    // Tools
    token("linear-api-key", &["lin_api_", "lin_oauth_"], Token::new(Class::Alnum, 32)),
    token("notion-token", &["ntn_"], Token::new(Class::Alnum, 40).bounded()),
    token("figma-token", &["figd_"], Token::new(Class::Url, 30)),
    token("postman-key", &["PMAK-"], Token::new(Class::Url, 50)),
    token("newrelic-key", &["NRAK-"], Token::new(Class::Upper, 24)),
    token("grafana-token", &["glsa_", "glc_"], Token::new(Class::Base64, 32).bounded()),
    token("sentry-token", &["sntrys_", "sntryu_"], Token::new(Class::Base64, 40)),
    token("dynatrace-token", &["dt0c01."], Token::new(Class::Dotted, 40)),
    token("age-secret-key", &["AGE-SECRET-KEY-1"], Token::new(Class::Upper, 50)),
    custom("jwt", &["eyJ"], token::jwt),
    // Addresses and headers
    custom("url-password", &["://"], web::userinfo),
    custom("url-password", &["@tcp(", "@unix("], web::data_source),
    custom("authorization-header", &["authorization"], web::authorization),
    custom("bearer-token", &["bearer "], web::bearer),
    custom("basic-credentials", &["basic ", "\"auth\"", "\\\"auth\\\"", "_auth=", "_auth = "], web::basic),
    custom("cookie", &["cookie"], web::cookie),
    // Command lines
    rule("command-line-password", &["mysql", "mysqldump", "mysqladmin", "mariadb"], Matcher::Command(&["-p"], Style::Glued)),
    rule(
        "command-line-password",
        &["sshpass", "docker login", "mongosh", "mongodump"],
        Matcher::Command(&["-p"], Style::Apart),
    ),
    rule("command-line-password", &["redis-cli"], Matcher::Command(&["-a"], Style::Apart)),
    rule(
        "command-line-password",
        &["curl", "wget", "httpie"],
        Matcher::Command(&["-u", "--user", "--proxy-user"], Style::UserAndPassword),
    ),
    rule("command-line-password", &["pass:"], Matcher::Follows(b" -pass")),
    rule("netrc-password", &["password "], Matcher::Follows(b"login ")),
    // Values of telling names
    rule(
        "generic-password",
        &["password", "passwd", "passphrase", "passcode", "pwd", "pass", "비밀번호", "パスワード", "密码", "密碼"],
        Matcher::Assignment(Kind::Password),
    ),
    rule(
        "generic-secret",
        &["secret", "secret_key", "secretkey", "secret-key", "credential", "credentials", "private_key", "privatekey"],
        Matcher::Assignment(Kind::Secret),
    ),
    rule(
        "generic-api-key",
        &[
            "api_key",
            "apikey",
            "api-key",
            "access_key",
            "accesskey",
            "access-key",
            "auth_key",
            "authkey",
            "auth-key",
            "account_key",
            "accountkey",
            "encryption_key",
            "encryptionkey",
            "signing_key",
            "signingkey",
            "master_key",
            "masterkey",
            "license_key",
            "licensekey",
        ],
        Matcher::Assignment(Kind::Secret),
    ),
    rule("generic-token", &["token"], Matcher::Assignment(Kind::Token)),
    rule("generic-key", &["_key"], Matcher::Assignment(Kind::Key)),
];
