import HTTPTypes

/// Keeps web pages from sending requests in their reader's name (cross-site request forgery).
///
/// A page can make a browser send a form, an image's address or a link without asking the server
/// first. None of these can carry a header field of the page's choice. So a request must have one:
/// a content type that forms do not have, credentials, or one of the named fields.
public struct ForgeryProtection: Sendable, Hashable {
    /// Fields, in lower case, any of which shows that the sender chose its header.
    public var proofs: [String]

    /// Protection with the fields that Apollo's clients and servers agreed on.
    public init(
        proofs: [String] = ["apollo-require-preflight", "x-apollo-operation-name", "graphql-require-preflight"]
    ) {
        self.proofs = proofs
    }

    /// The refusal of a request that a plain page could have sent; `nil` when none could.
    ///
    /// `header` gives the value of a field by its name in lower case.
    public func refusal(
        of exchange: HTTPExchange,
        _ agreement: HTTPExchange.Agreement,
        header: (String) -> String?
    ) -> HTTPRefusal? {
        guard !exchange.isBeyondForms, header("authorization") == nil,
            header("x-api-key") == nil, !proofs.contains(where: { header($0) != nil })
        else { return nil }
        let advice = proofs.first.map { "Send Content-Type: application/json, or the field \($0) with any value." }
        let message = "A web page could have sent this request without its reader's will."
        let text = [message, advice].compactMap(\.self).joined(separator: " ")
        return HTTPRefusal(.forbidden, text, .unauthorized, agreement.mediaType)
    }
}

extension HTTPExchange {
    /// Whether no form can have sent this.
    ///
    /// Fetch: a `Content-Type` outside the CORS-safelisted ones makes the browser ask first.
    public var isBeyondForms: Bool {
        // What most clients send is not taken apart each time.
        if contentType == "application/json" { return true }
        guard let contentType, let type = MediaType(contentType) else { return false }
        return !["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]
            .contains("\(type.type)/\(type.subtype)")
    }
}
