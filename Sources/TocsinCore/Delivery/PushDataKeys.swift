/// Keys of a message's `data` that cannot reach every phone.
package enum PushDataKeys {
    /// Whether Firebase keeps a key for itself: `from`, `message_type`, and all that begin with
    /// `google.` or `gcm`.
    ///
    /// FCM refuses the whole message because of one such key (Firebase: REST Resource
    /// projects.messages, `data`).
    package static func isReserved(_ key: String) -> Bool {
        // By bytes, as Firebase looks at keys: a sign may combine with the last letter.
        key.isEmpty || key == "from" || key == "message_type" || key.utf8.starts(with: "google.".utf8)
            || key.utf8.starts(with: "gcm".utf8)
    }
}
