/// What a provider sends back with the browser (RFC 6749 §4.1.2, RFC 9207).
package struct CallbackParameters: Sendable {
    /// What the provider says of the sign-in.
    enum Outcome: Sendable, Hashable {
        case code(String)
        case error(ProviderError)
    }

    private static let maximumValueBytes = 4096

    /// Which sign-in it is of.
    package let state: String
    let outcome: Outcome
    let issuer: String?

    /// Reads the decoded query; parameters of other names are left out, as the RFC asks.
    package init(_ query: [(name: String, value: String)]) throws(OIDCRefusal) {
        var values: [String: String] = [:]
        for (name, value) in query where ["state", "code", "error", "iss"].contains(name) {
            guard values.updateValue(value, forKey: name) == nil else {
                throw OIDCRefusal(.callbackMalformed, "The callback has the parameter \(name) twice.")
            }
            guard !value.isEmpty, value.utf8.count <= Self.maximumValueBytes else {
                throw OIDCRefusal(.callbackMalformed, "The callback's parameter \(name) is empty or over 4 KiB long.")
            }
        }
        guard let state = values["state"] else {
            // Some providers leave it out where they refuse; what they say may be shown.
            throw OIDCRefusal(
                .callbackMalformed,
                "The callback has no state, so that nobody can say whose it is.",
                providerError: values["error"].map(ProviderError.init)
            )
        }
        switch (values["code"], values["error"]) {
        case (let code?, nil): outcome = .code(code)
        case (nil, let error?): outcome = .error(ProviderError(error))
        default: throw OIDCRefusal(.callbackMalformed, "The callback has neither a code nor an error, or both.")
        }
        (self.state, issuer) = (state, values["iss"])
    }

    /// The code, unless the provider refused or the answer is another provider's (RFC 9207 §2.4).
    func code(of metadata: ProviderMetadata) throws(OIDCRefusal) -> String {
        if let issuer { try check(issuer, metadata) }
        switch outcome {
        case .code(let code):
            // An error may come without a name: it gives nobody anything.
            if issuer == nil, metadata.announcesIssuer { try check("", metadata) }
            return code
        case .error(let error):
            throw OIDCRefusal(
                error.isAway ? .providerAway : .providerError,
                "The provider \(metadata.issuer) refused the sign-in: \(error.rawValue).",
                providerError: error
            )
        }
    }

    private func check(_ issuer: String, _ metadata: ProviderMetadata) throws(OIDCRefusal) {
        guard issuer.utf8.elementsEqual(metadata.issuer.utf8) else {
            let named = issuer.isEmpty ? "nobody" : OIDCRefusal.shown(issuer)
            throw OIDCRefusal(
                .issuerMismatch,
                "The callback is of \(named), and was awaited of \(metadata.issuer)."
            )
        }
    }
}
