-- How the files were that a session's memories are about, when the session was last read (store/file_anchors.rs).
CREATE TABLE file_anchors (
    session_id TEXT NOT NULL,
    path       BLOB NOT NULL,                 -- of the SHA-256 of the file's path: the first 8 bytes
    at         INTEGER NOT NULL,
    lines      INTEGER NOT NULL,
    sketch     BLOB NOT NULL,                 -- of its lines; says only how many of them another file has too
    words      BLOB NOT NULL,                 -- hashes, 4 bytes each, of what the memories quote and the file had
    PRIMARY KEY (session_id, path)
) STRICT, WITHOUT ROWID;
