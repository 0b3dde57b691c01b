import Encodings
import JSON
import Synchronization
package import TocsinCore

/// The provider token of one (team, key), shared by all connections.
///
/// A token is used for 50 minutes. Apple refuses a second one within 20 minutes, and any that is
/// older than an hour. So a token is only replaced early when Apple asks for it with
/// `ExpiredProviderToken`, and once in 20 minutes: if the new one is refused too, more will not
/// help.
package final class APNsTokenSource: Sendable {
    private struct Issued {
        var text: String
        var at: Timestamp
    }

    private struct State {
        var issued: Issued?
        /// No new token before this moment (`TooManyProviderTokenUpdates`).
        var heldUntil: Timestamp?
        /// When Apple last asked for another token.
        var replacedAt: Timestamp?
    }

    private static let reuseSeconds = 3000.0
    private static let holdSeconds = 1200.0
    /// After this Apple refuses the token, whatever else it wishes.
    private static let lifeSeconds = 3540.0
    /// A token from so far in the future was made before the clock was set back.
    private static let futureSeconds = 60.0
    private let teamID: String
    private let keyID: String
    private let signer: any Signer
    private let time: any TimeSource
    private let metrics: ProviderMetrics?
    private let state = Mutex(State())

    /// A source that makes its first token when one is asked for.
    package init(
        teamID: String,
        keyID: String,
        signer: any Signer,
        time: any TimeSource,
        metrics: ProviderMetrics? = nil
    ) {
        self.metrics = metrics
        self.teamID = teamID
        self.keyID = keyID
        self.signer = signer
        self.time = time
    }

    /// The token to use now.
    package func token() throws(KeyError) -> String {
        let now = time.now()
        return try state.withLock { state throws(KeyError) in
            if let issued = state.issued {
                let isHeld = state.heldUntil.map { now < $0 } ?? false
                let life = isHeld ? Self.lifeSeconds : Self.reuseSeconds
                if now < issued.at.adding(seconds: life), issued.at < now.adding(seconds: Self.futureSeconds) {
                    return issued.text
                }
            }
            return try issue(&state, now)
        }
    }

    /// Apple called this token expired: makes another, unless that has happened already.
    package func replace(_ rejected: String) throws(KeyError) {
        let now = time.now()
        try state.withLock { state throws(KeyError) in
            let isHeld = state.heldUntil.map { now < $0 } ?? false
            let wasReplaced = state.replacedAt.map { now < $0.adding(seconds: Self.holdSeconds) } ?? false
            guard state.issued?.text == rejected, !isHeld, !wasReplaced else { return }
            _ = try issue(&state, now)
            state.replacedAt = now
        }
    }

    /// Apple has seen too many tokens: goes on with this one for 20 minutes.
    package func hold() {
        let until = time.now().adding(seconds: Self.holdSeconds)
        state.withLock { $0.heldUntil = until }
    }

    private func issue(_ state: inout State, _ now: Timestamp) throws(KeyError) -> String {
        let claims: JSONObject = ["iss": .string(teamID), "iat": .int(now.milliseconds / 1000)]
        let text = try metrics.made { () throws(KeyError) in
            try WebToken.make(claims: claims, keyID: keyID, signer: signer)
        }
        state.issued = Issued(text: text, at: now)
        state.heldUntil = nil
        return text
    }
}

/// Makes signed JSON web tokens (RFC 7515 §3.1, compact form).
enum WebToken {
    /// A token of these claims; `keyID` becomes `kid`.
    static func make(claims: JSONObject, keyID: String?, signer: any Signer) throws(KeyError) -> String {
        var header: JSONObject = ["alg": .string(signer.algorithm), "typ": "JWT"]
        if let keyID { header["kid"] = .string(keyID) }
        let signed =
            Base64URL.encoded(JSONValue.object(header).serialized()) + "."
            + Base64URL.encoded(JSONValue.object(claims).serialized())
        return signed + "." + Base64URL.encoded(try signer.signature(for: Array(signed.utf8)))
    }
}

extension ProviderMetrics? {
    /// Makes a token, and counts whether that went well.
    func made(_ make: () throws(KeyError) -> String) throws(KeyError) -> String {
        do throws(KeyError) {
            let token = try make()
            self?.credential.noteMade()
            return token
        } catch {
            self?.credential.noteFailure()
            throw error
        }
    }
}
