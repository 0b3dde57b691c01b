import Encodings
import GraphQLTransport
import HTTPTypes
import JSON
import TocsinAuth
import TocsinCore
import TocsinHTTP

/// What the paths under `/auth/` answer: nothing of it is kept, and no address goes along.
enum AuthAnswer {
    static let fields: [(name: String, value: String)] = [
        ("cache-control", "no-store"), ("referrer-policy", "no-referrer"), ("x-content-type-options", "nosniff"),
    ]
    /// How pages of ours look, as the console does, with nothing to be fetched.
    private static let style = """
        :root{color-scheme:light dark;font:1rem/1.45 system-ui,sans-serif}
        body{margin:0;background:light-dark(#fff,#15181c);color:light-dark(#1b1f24,#e6e9ed);overflow-wrap:anywhere}
        main{max-inline-size:32rem;margin-inline:auto;padding:1rem}
        h1{font-size:1.4rem}
        a{color:light-dark(#1d5a9e,#85b8f2)}
        label{display:block;font-weight:600}
        input,button{font:inherit;border-radius:.3rem;padding:.4rem .5rem;min-block-size:2.1rem}
        input{display:block;inline-size:100%;box-sizing:border-box;background:inherit;color:inherit;\
        border:1px solid light-dark(#59626d,#a3adb8)}
        button{border:0;padding-inline:.8rem;cursor:pointer;background:light-dark(#1d5a9e,#85b8f2);\
        color:light-dark(#fff,#10151b)}
        :focus-visible{outline:3px solid light-dark(#1d5a9e,#85b8f2);outline-offset:2px}
        [role=alert]{color:light-dark(#b3261e,#ff9c92)}
        """
    /// Pages of ours have no script, no picture and this one style, and stand in no frame.
    private static let pageFields: [(name: String, value: String)] = {
        let digest = Base64URL.encoded(Digest.sha256(Array(style.utf8)))
            .replacing("-", with: "+").replacing("_", with: "/")
        let policy =
            "default-src 'none'; style-src 'sha256-\(digest)='; form-action 'self'; base-uri 'none'; "
            + "frame-ancestors 'none'"
        return [("content-security-policy", policy), ("x-frame-options", "DENY")]
    }()

    static func empty(_ fields: [(name: String, value: String)] = []) -> OutgoingResponse {
        OutgoingResponse(status: .noContent, contentType: nil, fields: Self.fields + fields)
    }

    static func json(
        _ value: JSONValue,
        status: HTTPResponse.Status = .ok,
        _ fields: [(name: String, value: String)] = []
    ) -> OutgoingResponse {
        OutgoingResponse(
            status: status,
            contentType: "application/json",
            fields: Self.fields + fields,
            body: value.serialized()
        )
    }

    static func error(
        _ status: HTTPResponse.Status,
        _ code: ErrorCode,
        _ message: String,
        _ fields: [(name: String, value: String)] = []
    ) -> OutgoingResponse {
        OutgoingResponse(
            status: status,
            contentType: "application/json",
            fields: Self.fields + fields,
            body: ErrorBody.plain(message, code: code.rawValue)
        )
    }

    /// To another place, which the browser asks for by `GET`.
    static func seeOther(_ location: String, _ fields: [(name: String, value: String)]) -> OutgoingResponse {
        OutgoingResponse(status: .seeOther, contentType: nil, fields: Self.fields + [("location", location)] + fields)
    }

    /// A page of ours; `body` is markup of our own.
    static func page(
        _ status: HTTPResponse.Status,
        title: String,
        body: String,
        _ fields: [(name: String, value: String)] = []
    ) -> OutgoingResponse {
        let text = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(title)</title>\
            <meta name="viewport" content="width=device-width, initial-scale=1"><style>\(style)</style></head>
            <body><main><h1>\(title)</h1>
            \(body)
            </main></body></html>

            """
        return OutgoingResponse(
            status: status,
            contentType: "text/html; charset=utf-8",
            fields: Self.fields + pageFields + fields,
            body: Array(text.utf8)
        )
    }

    /// A refusal of a service.
    static func error(_ error: ServiceError, report: (String) -> String) -> OutgoingResponse {
        switch error {
        case .unauthenticated(let text): return Self.error(.unauthorized, .unauthenticated, text)
        case .tooManyTries(let text, let seconds):
            let status: HTTPResponse.Status = seconds > 1 ? .tooManyRequests : .serviceUnavailable
            return Self.error(status, .limit, text, [("retry-after", "\(seconds)")])
        case .badInput(let text): return Self.error(.badRequest, .badUserInput, text)
        case .limit(let text): return Self.error(.serviceUnavailable, .limit, text, [("retry-after", "1")])
        case .conflicting(let text): return Self.error(.conflict, .conflict, text)
        case .reauthenticate:
            return Self.error(.forbidden, .reauthenticate, "Prove again who you are, then repeat this.")
        case .unauthorized: return Self.error(.forbidden, .unauthorized, "You may not do this.")
        case .unavailable, .uncertain:
            let text = "The server cannot do this just now; try again."
            return Self.error(.serviceUnavailable, .unavailable, text, [("retry-after", "1")])
        default:
            let id = report("\(error)")
            let text = "Something went wrong inside the server. Its log has it under \(id)."
            return Self.error(.internalServerError, .internal, text)
        }
    }
}
