import TocsinCore

/// Passwords that are stored as they are, so that tests check many in no time.
struct PlainPasswords: PasswordHashing {
    /// What no password is stored as.
    static let decoy = "decoy"

    func hash(_ password: String) async throws(ServiceError) -> String { "plain:" + password }

    func verify(_ password: String, against text: String) async throws(ServiceError) -> Bool {
        text == "plain:" + password
    }

    func makePassword() -> String { "a made password" }
}
