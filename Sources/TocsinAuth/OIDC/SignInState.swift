import Encodings
import JSON
package import TocsinCore

/// One sign-in under way, as the browser's login cookie carries it.
package struct SignInState: Sendable {
    /// The provider's id.
    package let provider: String
    /// Comes back with the callback: 256 random bits.
    let state: String
    /// Comes back inside the ID token: 256 random bits.
    let nonce: String
    /// Proves that who redeems the code is who asked for it (RFC 7636): 256 random bits.
    let verifier: String
    /// Where the browser goes afterwards.
    package let returnPath: String
    let startedAt: Timestamp
    /// Who proves to be there again; nil for a plain sign-in.
    package let elevating: UserID?
    /// The session whose user links the person; nil where somebody signs in.
    package let linking: TokenID?

    init(provider: String, returnTo path: String?, elevating: UserID?, linking: TokenID?, at moment: Timestamp) {
        self.provider = provider
        (state, nonce, verifier) = (Self.secret(), Self.secret(), Self.secret())
        returnPath = ReturnPath.checked(path)
        (startedAt, self.elevating, self.linking) = (moment, elevating, linking)
    }

    /// Whether the person must sign in anew at the provider.
    var isFresh: Bool { elevating != nil || linking != nil }

    /// The challenge to the verifier, always by S256 (RFC 7636 §4.2).
    var challenge: String { Base64URL.encoded(Digest.sha256(Array(verifier.utf8))) }

    /// Tells a browser's sign-ins from each other, for the name of the login cookie.
    package var tab: String { String(state.prefix(Self.tabCharacters)) }

    /// The same for the `state` of a callback; nil when none of ours.
    package static func tab(ofState text: String) -> String? {
        guard text.utf8.count == stateCharacters, Base64URL.decoded(text) != nil else { return nil }
        return String(text.prefix(tabCharacters))
    }

    private static let tabCharacters = 8
    private static let stateCharacters = 43

    private static func secret() -> String { Base64URL.encoded(RandomBytes.make(32)) }
}

/// As JSON, which is sealed.
extension SignInState {
    var bytes: [UInt8] {
        var members: JSONObject = [
            "provider": .string(provider), "state": .string(state), "nonce": .string(nonce),
            "verifier": .string(verifier), "return": .string(returnPath), "at": .int(startedAt.milliseconds),
        ]
        members["elevating"] = elevating.map { .string($0.text) }
        members["linking"] = linking.map { .string($0.text) }
        return JSONValue.object(members).serialized()
    }

    init?(bytes: [UInt8]) {
        guard let members = StrictJSON.object(bytes, limits: JSONLimits(maximumBytes: 4096, maximumDepth: 1)),
            let provider = members["provider"]?.stringValue, let state = members["state"]?.stringValue,
            let nonce = members["nonce"]?.stringValue, let verifier = members["verifier"]?.stringValue,
            let returnPath = members["return"]?.stringValue, let moment = members["at"]?.intValue
        else { return nil }
        (self.provider, self.state, self.nonce, self.verifier) = (provider, state, nonce, verifier)
        self.returnPath = returnPath
        startedAt = Timestamp(milliseconds: moment)
        elevating = members["elevating"]?.stringValue.map { UserID($0) }
        linking = members["linking"]?.stringValue.map { TokenID($0) }
    }
}
