/// What a password must be.
package enum PasswordRules {
    /// The fewest characters, as Unicode counts them.
    package static let minimumCharacters = 10
    /// The most bytes in UTF-8.
    package static let maximumBytes = 1024

    /// Throws what is wrong with a password of the user of this name.
    package static func check(_ password: String, of name: String) throws(ServiceError) {
        guard password.unicodeScalars.count >= minimumCharacters else {
            throw .badInput("A password has at least \(minimumCharacters) characters.")
        }
        guard password.utf8.count <= maximumBytes else {
            throw .badInput("A password has at most \(maximumBytes) bytes.")
        }
        guard password.lowercased() != name.lowercased() else {
            throw .badInput("A password may not be the user's name.")
        }
    }
}
