import COpenSSL

/// Reads the crypto library's queue of errors.
enum LibraryError {
    /// The reason of the first queued error, in the library's words; empties the queue.
    static func take() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return "no reason given" }
        return String(cString: reason)
    }
}
