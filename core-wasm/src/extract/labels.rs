//! The labels that memories add around a session's own words, in the session's language.

use super::commands::Class;
use crate::text::Language;

/// The labels in one language.
#[derive(Debug)]
pub(crate) struct Labels {
    /// Before what was wrong until the agent changed it in the same turn.
    pub before_change: &'static str,
    /// Before what a turn changed in files, if later turns took all of it back.
    pub taken_back: &'static str,
    /// Behind a request for which the work was undone later.
    pub later_undone: &'static str,
    /// Behind what was changed for a request, if the user turned it down right after it.
    pub refused_next: &'static str,
    /// Before the rejected options.
    pub rejected: &'static str,
    /// Before a reason.
    pub why: &'static str,
    /// Before what a plan does.
    pub goal: &'static str,
    /// Before what a plan forbids or leaves alone.
    pub limits: &'static str,
    /// Before a failure.
    pub fails: &'static str,
    /// Before the cause of a failure.
    pub cause: &'static str,
    /// Before the fix of a failure.
    pub fixed_by: &'static str,
    /// Before a change that was made for a failure that nobody saw mended.
    pub tried: &'static str,
    /// Before a command that went past a failing check instead of mending it.
    pub bypassed_by: &'static str,
    /// The same, if the user allowed it.
    pub allowed_bypass: &'static str,
    /// What cured edits that failed. `{}` is the tool that wrote the file.
    pub written_with: &'static str,
    /// The error of a commit whose hook ran tests that failed. `{}` are their counts.
    pub hook_tests: &'static str,
    /// Before what the user added during a turn.
    pub added: &'static str,
    /// Before the subject of a user's remark.
    pub about: &'static str,
    /// Before what the user said beside a choice.
    pub user: &'static str,
    /// Before what the agent took a user's remark to mean.
    pub understood: &'static str,
    /// Before a commit.
    pub committed: &'static str,
    /// A plan to carry out. `{}` is its name.
    pub plan: &'static str,
    /// A question without an answer.
    pub open_question: &'static str,
    /// Before the latest request, if nothing came of it.
    pub open_request: &'static str,
    /// The same, if files were changed for it.
    pub begun_request: &'static str,
    /// Changed files, and no commit.
    pub not_committed: &'static str,
    /// Files that changed after the last commit.
    pub changed_after_commit: &'static str,
    /// A commit was begun as the session ended. That its result is not known is told with what is left undone.
    pub commit_begun: &'static str,
    /// A commit, and no push.
    pub not_pushed: &'static str,
    /// That only some commits were not pushed. Both `{}` are replaced by numbers: of these and of all.
    pub partly_pushed: &'static str,
    /// That the changes were committed, and nothing is known of a push.
    pub is_committed: &'static str,
    /// The files that were changed for a request. `{}` are their names.
    pub changed: &'static str,
    /// A commit that went past a hook which had failed.
    pub bypassed_hook: &'static str,
    /// A commit of the session that failed, and whose work is in a commit of somebody else. `{}` is that commit.
    pub other_commit: &'static str,
    /// Before tests, checks and builds that the user did not let the agent run.
    pub refused_run: &'static str,
    /// Work that was put away and not brought back. `{}` is the branch.
    pub stashed: &'static str,
    /// Before what the agent said of a failure whose cause nobody knows.
    pub cause_open: &'static str,
    /// After the counts of a test run that covered some of the files.
    pub of_some_files: &'static str,
    /// Which tests were run, beside the claim that all pass.
    pub only_run: &'static str,
    /// A sub-agent whose result never came. `{}` is its task.
    pub still_running: &'static str,
    /// What the agent was about to do when the session ended. `{}` is in its words.
    pub stopped_at: &'static str,
    /// What the agent ran for a request that has no answer. `{}` are the commands.
    pub last_ran: &'static str,
    /// With what the client stopped instead of an answer. `{}` is its message.
    pub client_error: &'static str,
    /// Behind a command whose result never came.
    pub no_result: &'static str,
    /// That no file was edited for such a request.
    pub nothing_edited: &'static str,
    /// A plan that the user refused. `{}` is its title.
    pub refused_plan: &'static str,
    /// Where the document for the next session is. `{}` is its path.
    pub handoff: &'static str,
    /// A plan that was written and that nobody accepted. `{}` is its file.
    pub written_plan: &'static str,
    /// A plan that was made, and that the session did not carry out. `{}` is its title.
    pub made_plan: &'static str,
    /// What cured a command that ran in another folder than the project's. `{}` is the command.
    pub in_root: &'static str,
    /// What cured a check that a change of a file mended. `{}` is the file.
    pub changed_file: &'static str,
    /// Why the continuous integration failed.
    pub ci_failed: &'static str,
    /// A check that passed where another one failed. The two `{}` are the checks.
    pub missed: &'static str,
    /// A program that the machine does not have. `{}` is its name.
    pub not_installed: &'static str,
    /// Several programs that the machine does not have. `{}` is their names.
    pub none_installed: &'static str,
    /// A Python without a module. The two `{}` are how it was called and the module.
    pub no_module: &'static str,
    /// A path that git ignores. `{}` is the path.
    pub ignored_by_git: &'static str,
    /// A command that prints nothing although it passes. `{}` is the command.
    pub prints_nothing: &'static str,
    /// A program that a hook refuses. `{}` is its name.
    pub refused_here: &'static str,
    /// A remote repository that has another address now. `{}` is the address.
    pub moved_to: &'static str,
    /// Before a call that the client's permissions refused.
    pub not_allowed: &'static str,
    /// Before what was done in the place of what could not be done.
    pub instead: &'static str,
    /// Before what only the user can do.
    pub needs_user: &'static str,
    /// What zsh makes of a pattern without quotes. `{}` is the pattern.
    pub unquoted: &'static str,
    /// What zsh makes of `>` on a file that exists.
    pub no_clobber: &'static str,
    /// What zsh makes of a variable named `path`.
    pub path_variable: &'static str,
    /// A branch that does not start from the main one. The two `{}` are its name and what it starts from.
    pub branch_from: &'static str,
    /// Before a check that a plan asked for and nobody made.
    pub not_checked: &'static str,
    /// What stands for a pull request that the user asked to merge. `{}` is its number.
    pub not_merged: &'static str,
    /// Before what the agent said of a deployment that was under way, which nobody looked at.
    pub expected: &'static str,
    /// The latest changes were never run.
    pub never_run: &'static str,
    /// Nothing was run in the whole session.
    pub nothing_run: &'static str,
    /// That a run failed, behind what it did before.
    pub failed: &'static str,
    /// Before what the last of several runs said.
    pub last_run: &'static str,
    /// Changed files that only another program runs, and that nobody ran. `{}` are their names.
    pub unrun: &'static str,
    /// That the agent called failures older than its changes, and never looked at what was before these.
    pub older_faults: &'static str,
    /// Before a request to which the agent only said what it would do.
    pub only_announced: &'static str,
    /// The user refused a tool call. `{}` is the call.
    pub refused: &'static str,
    /// A reverted edit. `{}` is the file.
    pub reverted: &'static str,
    /// Before the counts of a test run.
    pub tests: &'static str,
    /// A check whose runs disagree although no file was changed between them.
    pub mixed: &'static str,
    /// That the commits were pushed.
    pub pushed: &'static str,
    /// The same, with the branch. `{}` is its name.
    pub pushed_to: &'static str,
    /// What the continuous integration said before the last push. `{}` is its verdict.
    pub ci_before_push: &'static str,
    /// That nobody looked at the continuous integration after a push.
    pub ci_not_since: &'static str,
    /// That comments on the pull request were read and worked on, and none was answered.
    pub comments_unanswered: &'static str,
    /// The scripts of tests that the session wrote and never ran. `{}` are their names.
    pub scripts_never_run: &'static str,
    /// Code was changed, and nothing was ever run that checks it.
    pub never_checked: &'static str,
    /// The checks that were only run before the last change of a file. `{}` are their names.
    pub not_run_since: &'static str,
    /// A pull request that is only a draft.
    pub draft: &'static str,
    /// After the counts of a run that was made before the last change of a file.
    pub before_edit: &'static str,
    /// The user stopped the agent before it answered.
    pub interrupted: &'static str,
    /// The same, before any file was changed.
    pub interrupted_unchanged: &'static str,
    /// What stands within a line before a result that is not simply what the request gave: the English words, and those of this language.
    pub of_results: &'static [(&'static str, &'static str)],
    /// What people call a purpose of a command, where its own words are English: they ask in their language.
    pub purposes: &'static [(Class, &'static str)],
}

const ENGLISH: Labels = Labels {
    before_change: "Before the change",
    taken_back: "Changes taken back later",
    later_undone: "later undone",
    refused_next: "refused next",
    rejected: "Rejected",
    why: "Why",
    goal: "Goal",
    limits: "Limits",
    fails: "Fails",
    cause: "Cause",
    fixed_by: "Fixed by",
    tried: "Tried, not seen to pass",
    bypassed_by: "Not mended, only bypassed by",
    allowed_bypass: "Bypassed once, which the user allowed, by",
    written_with: "writing the file with {}",
    hook_tests: "its hook ran the tests: {}",
    added: "Added by the user",
    about: "About",
    user: "The user",
    understood: "The agent understood",
    committed: "committed as",
    plan: "Implement the plan \"{}\"",
    open_question: "Unanswered",
    open_request: "Request without an answer",
    begun_request: "Begun, and not known to be finished",
    not_committed: "not committed",
    changed_after_commit: "changed after the last commit, not committed",
    commit_begun: "a commit was begun",
    not_pushed: "committed, not pushed",
    partly_pushed: "committed, {} of {} commits not pushed",
    is_committed: "committed",
    changed: "changed: {}",
    bypassed_hook: "committed with `--no-verify` after its hook had failed",
    other_commit: "its own commit failed: the changes are in {}, a commit with another message",
    refused_run: "Not run, because the user stopped it",
    stashed: "Put away with `git stash` on `{}` and not brought back",
    cause_open: "Cause not found",
    of_some_files: "of some files only",
    only_run: "only some were run, such as `{}`",
    still_running: "Started, without a result: {}",
    stopped_at: "The session ended when the agent was at: {}",
    last_ran: "Ran {}",
    client_error: "The client stopped with an error: \"{}\"",
    no_result: "no result",
    nothing_edited: "No file was edited for this request",
    refused_plan: "The plan \"{}\" was refused",
    handoff: "Written for the next session: `{}`",
    written_plan: "A plan is written and not accepted yet: `{}`",
    made_plan: "The user interrupted at a plan, which was not carried out in this session: \"{}\"",
    in_root: "{} in the project's own folder",
    changed_file: "a change of {}",
    ci_failed: "CI failed: {}",
    missed: "{} can pass while {} fails: run both",
    not_installed: "{} is not installed here",
    none_installed: "Not installed here: {}",
    no_module: "{} has no module {}",
    ignored_by_git: "{} is ignored by git: `git add` of it fails",
    prints_nothing: "{} may print nothing",
    refused_here: "{} in the shell is refused here",
    moved_to: "The remote repository moved to {}: the remote's address here is the old one",
    not_allowed: "Not allowed here without the user",
    instead: "Instead",
    needs_user: "Needs the user",
    unquoted: "zsh needs quotes around {}: without them \"no matches found\", and nothing runs",
    no_clobber: "`>` does not overwrite a file here (zsh: \"file exists\"); `>|` does",
    path_variable: "In zsh a variable named `path` replaces PATH: after it, \"command not found\"",
    branch_from: "Branch `{}` starts from `{}`",
    not_checked: "Planned, but not checked",
    not_merged: "To be merged, as the user asked, and not known to be: pull request #{}",
    expected: "Expected, but not seen",
    never_run: "Nothing was run after the last change",
    nothing_run: "Nothing was run",
    failed: "failed",
    last_run: "last time",
    unrun: "Changed, not seen to run: {}",
    older_faults: "that failures are older was said, not checked",
    only_announced: "Announced, not done",
    refused: "The user refused: {}",
    reverted: "reverted edit in {}",
    tests: "tests",
    mixed: "passed and failed since the last edit",
    pushed: "pushed",
    pushed_to: "pushed to `{}`",
    ci_before_push: "CI before the last push: {}",
    ci_not_since: "CI not looked at since",
    comments_unanswered: "PR comments read, not answered",
    scripts_never_run: "written and never run: {}",
    never_checked: "no build, test or lint was run",
    not_run_since: "not run since the last edit: {}",
    draft: "draft",
    before_edit: "before the last edit",
    interrupted: "Interrupted by the user",
    interrupted_unchanged: "Interrupted by the user; nothing changed",
    of_results: &[],
    purposes: &[],
};

const KOREAN: Labels = Labels {
    before_change: "변경 전",
    taken_back: "나중에 되돌린 변경",
    later_undone: "나중에 되돌림",
    refused_next: "다음에 거절됨",
    rejected: "버린 안",
    why: "이유",
    goal: "목표",
    limits: "제한",
    fails: "실패",
    cause: "원인",
    fixed_by: "해결",
    tried: "시도함, 통과는 확인되지 않음",
    bypassed_by: "고치지 않고 우회",
    allowed_bypass: "사용자 허락으로 한 번 우회",
    written_with: "{}로 파일을 새로 씀",
    hook_tests: "훅이 실행한 테스트: {}",
    added: "사용자가 덧붙인 말",
    about: "대상",
    user: "사용자",
    understood: "에이전트의 이해",
    committed: "커밋",
    plan: "계획 \"{}\" 구현",
    open_question: "답을 기다리는 질문",
    open_request: "답이 없는 요청",
    begun_request: "시작했으나 끝났는지 확인되지 않음",
    not_committed: "커밋하지 않음",
    changed_after_commit: "마지막 커밋 뒤의 변경은 커밋하지 않음",
    commit_begun: "커밋을 시작함",
    not_pushed: "커밋함, push하지 않음",
    partly_pushed: "커밋함, {}개(전체 {}개)는 push하지 않음",
    is_committed: "커밋함",
    changed: "변경: {}",
    bypassed_hook: "훅이 실패한 뒤 `--no-verify`로 커밋함",
    other_commit: "자체 커밋은 실패했고 변경은 다른 메시지의 커밋 {}에 있음",
    refused_run: "사용자가 중단해 실행하지 않음",
    stashed: "`git stash`로 치워 두고 되돌리지 않음: `{}`",
    cause_open: "원인을 찾지 못함",
    of_some_files: "일부 파일만",
    only_run: "일부만 실행함: `{}`",
    still_running: "시작했으나 결과가 없음: {}",
    stopped_at: "세션이 끝날 때 에이전트가 하던 일: {}",
    last_ran: "실행: {}",
    client_error: "클라이언트가 오류로 멈춤: \"{}\"",
    no_result: "결과 없음",
    nothing_edited: "이 요청을 위해 수정한 파일 없음",
    refused_plan: "계획 \"{}\"은(는) 거부되어 실행하지 않음",
    handoff: "다음 세션을 위한 문서: `{}`",
    written_plan: "계획은 작성했으나 아직 승인되지 않음: `{}`",
    made_plan: "사용자가 계획에서 중단했고 이 세션에서는 실행하지 않음: \"{}\"",
    in_root: "프로젝트 폴더에서 {} 실행",
    changed_file: "{} 수정",
    ci_failed: "CI 실패: {}",
    missed: "{} 통과, 수정 없이 이어서 실행한 {} 실패",
    not_installed: "이 환경에는 {} 없음",
    none_installed: "이 환경에 없는 프로그램: {}",
    no_module: "{}에는 모듈 {} 없음",
    ignored_by_git: "{}: git이 무시하므로 `git add` 실패",
    prints_nothing: "{} 출력이 비는 일이 있음",
    refused_here: "셸에서 {} 사용이 거부됨",
    moved_to: "원격 저장소가 {}(으)로 옮겨짐. 이곳의 원격 주소는 옛 주소",
    not_allowed: "사용자 없이는 허용되지 않음",
    instead: "대신",
    needs_user: "사용자가 해야 함",
    unquoted: "zsh에서는 {}에 따옴표가 필요함: 없으면 \"no matches found\"로 실행되지 않음",
    no_clobber: "여기서 `>`는 파일을 덮어쓰지 않음(zsh: \"file exists\"), `>|`는 덮어씀",
    path_variable: "zsh에서 변수 `path`는 PATH를 바꿈: 이후 \"command not found\"",
    branch_from: "브랜치 `{}`의 시작점은 `{}`",
    not_checked: "계획에 있었으나 확인하지 않음",
    not_merged: "머지하라고 했으나 머지 확인되지 않음: PR #{}",
    expected: "예상했으나 확인하지 않음",
    never_run: "마지막 수정 뒤 아무것도 실행하지 않음",
    nothing_run: "아무것도 실행하지 않음",
    failed: "실패",
    last_run: "마지막 실행:",
    unrun: "고쳤으나 실행하지 않음: {}",
    older_faults: "전부터 있던 실패라고 했으나 확인하지 않음",
    only_announced: "하겠다고만 하고 하지 않음",
    refused: "사용자가 거부함: {}",
    reverted: "{}에서 되돌린 수정",
    tests: "테스트",
    mixed: "마지막 수정 뒤 통과와 실패가 섞임",
    pushed: "push함",
    pushed_to: "`{}`에 push함",
    ci_before_push: "마지막 push 전의 CI: {}",
    ci_not_since: "그 뒤 CI는 확인하지 않음",
    comments_unanswered: "PR 코멘트에 아직 답하지 않음",
    scripts_never_run: "작성하고 실행하지 않음: {}",
    never_checked: "빌드·테스트·린트를 실행하지 않음",
    not_run_since: "마지막 수정 뒤 실행하지 않음: {}",
    draft: "초안",
    before_edit: "마지막 수정 전",
    interrupted: "사용자가 중단함",
    interrupted_unchanged: "사용자가 중단함, 변경 없음",
    of_results: &[
        ("proposed, not done", "제안만 하고 하지 않음"),
        ("refused next", "다음에 거절됨"),
        ("documented", "문서에만 반영함"),
        ("found before the later work", "이후 작업 전에 파악함"),
        ("disputed next", "다음 메시지에서 이의 제기됨"),
        ("confirmed next by the user", "다음 메시지에서 사용자가 확인함"),
        ("not tried by the agent afterwards", "이후 에이전트가 시험하지 않음"),
    ],
    purposes: &[
        (Class::Commit, "커밋"),
        (Class::Publish, "푸시"),
        (Class::Build, "빌드"),
        (Class::Check, "린트"),
        (Class::Install, "설치"),
        (Class::Test, "테스트"),
    ],
};

const JAPANESE: Labels = Labels {
    before_change: "変更前",
    taken_back: "後で取り消した変更",
    later_undone: "後で取り消し",
    refused_next: "次に却下",
    rejected: "不採用",
    why: "理由",
    goal: "目的",
    limits: "制限",
    fails: "失敗",
    cause: "原因",
    fixed_by: "解決",
    tried: "試行、成功は未確認",
    bypassed_by: "回避のみ (未修正)",
    allowed_bypass: "ユーザーの許可で一度だけ回避",
    written_with: "{} でファイルを書き直す",
    hook_tests: "フックが実行したテスト: {}",
    added: "ユーザーの追加",
    about: "対象",
    user: "ユーザー",
    understood: "エージェントの理解",
    committed: "コミット",
    plan: "計画「{}」の実装",
    open_question: "未回答の質問",
    open_request: "回答のない依頼",
    begun_request: "着手済み、完了は未確認",
    not_committed: "未コミット",
    changed_after_commit: "最後のコミット後の変更は未コミット",
    commit_begun: "コミットを開始",
    not_pushed: "コミット済み、未プッシュ (push していない)",
    partly_pushed: "コミット済み、{} 件 (全 {} 件中) は未プッシュ",
    is_committed: "コミット済み",
    changed: "変更: {}",
    bypassed_hook: "フック失敗後に `--no-verify` でコミット",
    other_commit: "自身のコミットは失敗し、変更は別のメッセージのコミット {} にある",
    refused_run: "ユーザーが止めたため未実行",
    stashed: "`git stash` で退避したまま戻していない: `{}`",
    cause_open: "原因は未特定",
    of_some_files: "一部のファイルのみ",
    only_run: "一部のみ実行: `{}`",
    still_running: "開始したが結果なし: {}",
    stopped_at: "セッションが終わったときの作業: {}",
    last_ran: "実行: {}",
    client_error: "クライアントがエラーで停止: 「{}」",
    no_result: "結果なし",
    nothing_edited: "この依頼のために編集したファイルなし",
    refused_plan: "計画「{}」は拒否され、未実行",
    handoff: "次のセッション向けの文書: `{}`",
    written_plan: "計画は書かれたが、まだ承認されていない: `{}`",
    made_plan: "ユーザーが計画の段階で中断し、このセッションでは未実行:「{}」",
    in_root: "プロジェクトのフォルダーで {} を実行",
    changed_file: "{} の変更",
    ci_failed: "CI 失敗: {}",
    missed: "{} は成功、変更なしで続けた {} は失敗",
    not_installed: "この環境に {} はない",
    none_installed: "この環境にないプログラム: {}",
    no_module: "{} にモジュール {} はない",
    ignored_by_git: "{} は git の無視対象で、`git add` は失敗する",
    prints_nothing: "{} は何も出力しないことがある",
    refused_here: "シェルでの {} は拒否される",
    moved_to: "リモートリポジトリは {} に移った。ここのリモートのアドレスは古い",
    not_allowed: "ユーザーなしでは許可されない",
    instead: "代わりに",
    needs_user: "ユーザーが必要",
    unquoted: "zsh では {} に引用符が必要: ないと \"no matches found\" で実行されない",
    no_clobber: "ここでは `>` は既存のファイルを上書きしない（zsh: \"file exists\"）。`>|` なら上書きする",
    path_variable: "zsh では変数 `path` が PATH を置き換える: 以後 \"command not found\"",
    branch_from: "ブランチ `{}` の起点は `{}`",
    not_checked: "計画にあったが未確認",
    not_merged: "マージを頼まれたが、マージは未確認: PR #{}",
    expected: "見込みのみで未確認",
    never_run: "最後の変更後は何も実行していない",
    nothing_run: "何も実行していない",
    failed: "失敗",
    last_run: "最後の実行:",
    unrun: "変更したが未実行: {}",
    older_faults: "以前からの失敗という説明は未確認",
    only_announced: "予告のみ、未実施",
    refused: "ユーザーが拒否: {}",
    reverted: "{} で取り消した編集",
    tests: "テスト",
    mixed: "最後の編集後に成功と失敗が混在",
    pushed: "プッシュ済み",
    pushed_to: "`{}` にプッシュ済み",
    ci_before_push: "最後の push 前の CI: {}",
    ci_not_since: "その後の CI は未確認",
    comments_unanswered: "PR のコメントには未返信",
    scripts_never_run: "作成したが未実行: {}",
    never_checked: "ビルド・テスト・リントは未実行",
    not_run_since: "最後の編集後は未実行: {}",
    draft: "ドラフト",
    before_edit: "最後の編集前",
    interrupted: "ユーザーが中断",
    interrupted_unchanged: "ユーザーが中断、変更なし",
    of_results: &[
        ("proposed, not done", "提案のみ、未実施"),
        ("refused next", "次に却下"),
        ("documented", "文書のみ"),
        ("found before the later work", "後の作業より前の調査"),
        ("disputed next", "次の発言で異議あり"),
        ("confirmed next by the user", "次の発言でユーザーが確認"),
        ("not tried by the agent afterwards", "その後エージェントは未試行"),
    ],
    purposes: &[
        (Class::Commit, "コミット"),
        (Class::Publish, "プッシュ"),
        (Class::Build, "ビルド"),
        (Class::Check, "リント"),
        (Class::Install, "インストール"),
        (Class::Test, "テスト"),
    ],
};

const CHINESE: Labels = Labels {
    before_change: "更改前",
    taken_back: "后来撤销的改动",
    later_undone: "后来撤销",
    refused_next: "随后被否决",
    rejected: "未采用",
    why: "原因",
    goal: "目标",
    limits: "限制",
    fails: "失败",
    cause: "起因",
    fixed_by: "解决",
    tried: "已尝试，未见通过",
    bypassed_by: "仅绕过，未修复",
    allowed_bypass: "经用户允许绕过一次",
    written_with: "用 {} 重写文件",
    hook_tests: "钩子运行的测试：{}",
    added: "用户补充",
    about: "关于",
    user: "用户",
    understood: "代理的理解",
    committed: "提交",
    plan: "实现计划“{}”",
    open_question: "待回答",
    open_request: "没有回答的请求",
    begun_request: "已开始，是否完成未知",
    not_committed: "未提交",
    changed_after_commit: "最后一次提交之后的改动未提交",
    commit_begun: "已开始提交",
    not_pushed: "已提交，未推送 (push)",
    partly_pushed: "已提交，{} 个（共 {} 个）未推送",
    is_committed: "已提交",
    changed: "更改: {}",
    bypassed_hook: "钩子失败后用 `--no-verify` 提交",
    other_commit: "自身的提交失败，更改在另一条信息的提交 {} 中",
    refused_run: "因用户中止而未运行",
    stashed: "用 `git stash` 搁置后没有恢复: `{}`",
    cause_open: "原因尚未找到",
    of_some_files: "仅部分文件",
    only_run: "只运行了一部分：`{}`",
    still_running: "已启动但没有结果: {}",
    stopped_at: "会话结束时正在做: {}",
    last_ran: "执行: {}",
    client_error: "客户端因错误停止: “{}”",
    no_result: "没有结果",
    nothing_edited: "没有为此请求编辑文件",
    refused_plan: "计划“{}”被拒绝，未执行",
    handoff: "写给下一次会话的文档：`{}`",
    written_plan: "计划已写好，尚未批准：`{}`",
    made_plan: "用户在计划阶段中断，本次会话未执行：“{}”",
    in_root: "在项目文件夹中运行 {}",
    changed_file: "修改 {}",
    ci_failed: "CI 失败：{}",
    missed: "{} 通过，未改动而接着运行的 {} 失败",
    not_installed: "此环境没有安装 {}",
    none_installed: "此环境没有安装：{}",
    no_module: "{} 没有模块 {}",
    ignored_by_git: "{} 被 git 忽略，`git add` 会失败",
    prints_nothing: "{} 有时没有输出",
    refused_here: "shell 中的 {} 被拒绝",
    moved_to: "远程仓库已移到 {}：这里的远程地址是旧的",
    not_allowed: "没有用户则不允许",
    instead: "改用",
    needs_user: "需要用户",
    unquoted: "zsh 中 {} 需要引号：否则 \"no matches found\"，命令不会运行",
    no_clobber: "这里 `>` 不覆盖已有文件（zsh：\"file exists\"），`>|` 会覆盖",
    path_variable: "zsh 中变量 `path` 会替换 PATH：之后 \"command not found\"",
    branch_from: "分支 `{}` 的起点是 `{}`",
    not_checked: "计划中有但未检查",
    not_merged: "要求合并但未确认已合并: PR #{}",
    expected: "预期会发生，但未确认",
    never_run: "最后一次修改后没有运行过",
    nothing_run: "没有运行过任何命令",
    failed: "失败",
    last_run: "最后一次:",
    unrun: "已修改但没有运行过: {}",
    older_faults: "称失败早已存在，但未核实",
    only_announced: "只说要做，没有做",
    refused: "用户拒绝: {}",
    reverted: "{} 中撤回的修改",
    tests: "测试",
    mixed: "最后一次修改后有通过也有失败",
    pushed: "已推送",
    pushed_to: "已推送到 `{}`",
    ci_before_push: "最后一次 push 之前的 CI: {}",
    ci_not_since: "之后没有查看 CI",
    comments_unanswered: "尚未回复 PR 的评论",
    scripts_never_run: "已编写但没有运行过: {}",
    never_checked: "没有运行过构建、测试或 lint",
    not_run_since: "最后一次修改后没有运行: {}",
    draft: "草稿",
    before_edit: "最后一次修改之前",
    interrupted: "被用户中断",
    interrupted_unchanged: "被用户中断，没有改动",
    of_results: &[
        ("proposed, not done", "仅提议，未执行"),
        ("refused next", "随后被否决"),
        ("documented", "仅写入文档"),
        ("found before the later work", "后续工作之前的发现"),
        ("disputed next", "随后被质疑"),
        ("confirmed next by the user", "随后由用户确认"),
        ("not tried by the agent afterwards", "之后代理没有试过"),
    ],
    purposes: &[
        (Class::Commit, "提交"),
        (Class::Publish, "推送"),
        (Class::Build, "构建"),
        (Class::Check, "检查"),
        (Class::Install, "安装"),
        (Class::Test, "测试"),
    ],
};

impl Labels {
    /// Returns the words of this language for what stands within a line before a result, such as "disputed next (\"it rings\")". What stands
    /// in brackets stays.
    pub(crate) fn of_result(&self, label: &str) -> String {
        let own = self.of_results.iter().find_map(|(english, own)| {
            let rest = label.strip_prefix(english)?;
            (rest.is_empty() || rest.starts_with(" (")).then(|| format!("{own}{rest}"))
        });
        own.unwrap_or_else(|| label.to_owned())
    }
}

/// Returns the labels for a language code.
pub(crate) fn of(code: &str) -> &'static Labels {
    labels(match code {
        "ko" => Language::Korean,
        "ja" => Language::Japanese,
        "zh" => Language::Chinese,
        _ => Language::English,
    })
}

/// Returns the labels for a language.
pub(crate) fn labels(language: Language) -> &'static Labels {
    match language {
        Language::English => &ENGLISH,
        Language::Korean => &KOREAN,
        Language::Japanese => &JAPANESE,
        Language::Chinese => &CHINESE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_result_is_has_words_of_each_language() {
        assert_eq!(of("ko").of_result("disputed next (\"안 울려\")"), "다음 메시지에서 이의 제기됨 (\"안 울려\")");
        assert_eq!(of("en").of_result("documented"), "documented");
        assert_eq!(of("ko").of_result("documented twice"), "documented twice");
        for language in [Language::Japanese, Language::Chinese] {
            let (own, korean) = (labels(language).of_results, KOREAN.of_results);
            assert!(own.iter().map(|(english, _)| english).eq(korean.iter().map(|(english, _)| english)));
        }
    }
}
