import Glibc

/// Reads a password from a prompt without echo, or from standard input.
enum PasswordInput {
    static func read(prompting: Bool) throws -> String {
        let text: String?
        if prompting, isatty(STDIN_FILENO) == 1 {
            text = getpass("Password: ").map { String(cString: $0) }
        } else {
            text = readLine(strippingNewline: true)
        }
        guard let text, text.utf8.count >= 8 else { throw CommandFailure("A password has at least 8 characters.") }
        return text
    }
}
