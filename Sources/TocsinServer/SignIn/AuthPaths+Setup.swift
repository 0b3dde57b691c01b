import GraphQLTransport
import HTTPTypes
import NIOCore
import TocsinCore
import TocsinHTTP

// The first administrator, without a shell: a form of ours that takes the code of the first start.
extension AuthPaths {
    /// The form.
    func setupForm(_ request: IncomingRequest) async -> OutgoingResponse {
        do throws(ServiceError) {
            guard try await signIn.setup.isOpen() else { return Self.closed }
            return form(.ok)
        } catch {
            return AuthAnswer.error(error, report: report)
        }
    }

    /// What the form sends.
    func setup(_ request: IncomingRequest) async -> OutgoingResponse {
        // A form of another site cannot know the code; it is not even looked at.
        let site = request.header("sec-fetch-site")
        guard site == nil || site == "same-origin" else {
            return pageRefused("Sec-Fetch-Site is not same-origin.").response
        }
        let type = request.header("content-type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/x-www-form-urlencoded" else {
            let text = "Send the form as application/x-www-form-urlencoded: code, username, password."
            return AuthAnswer.error(.unsupportedMediaType, .badRequest, text)
        }
        let text = String(decoding: request.body.readableBytesView, as: UTF8.self)
        guard let pairs = Self.pairs(text[...]) else {
            return AuthAnswer.error(.badRequest, .badRequest, "The form cannot be read.")
        }
        func field(_ name: String) -> String { pairs.first { $0.name == name }?.value ?? "" }
        let (code, name) = (field("code").filter { $0 != " " }, field("username"))
        do throws(ServiceError) {
            let account = try await signIn.setup.finish(
                code: code,
                name: name,
                password: field("password")
            )
            return AuthAnswer.page(
                .created,
                title: "Set up",
                body: "<p>\(MarkupText.escaped(account.name)) is the administrator of this server. "
                    + "The set-up code is used up.</p><p><a href=\"\(signIn.home)\">Sign in</a></p>"
            )
        } catch {
            switch error {
            case .badInput(let text): return form(.badRequest, message: text, code: code, name: name)
            case .unauthenticated(let text): return form(.forbidden, message: text, code: code, name: name)
            default: return AuthAnswer.error(error, report: report)
            }
        }
    }

    private static let closed = AuthAnswer.page(
        .notFound,
        title: "Set up",
        body: "<p>This server has an administrator. There is nothing to set up.</p>"
    )

    /// The form, with what was sent before: a password alone is typed anew.
    private func form(
        _ status: HTTPResponse.Status,
        message: String = "",
        code: String = "",
        name: String = ""
    ) -> OutgoingResponse {
        func value(_ text: String) -> String { text.isEmpty ? "" : " value=\"\(MarkupText.escaped(text))\"" }
        let said = message.isEmpty ? "" : "<p role=\"alert\"><strong>\(MarkupText.escaped(message))</strong></p>"
        return AuthAnswer.page(
            status,
            title: "Set up Tocsin",
            body: """
                \(said)
                <p>The code is in the log of the server's first start.</p>
                <form method="post" action="\(signIn.home)auth/setup">
                <p><label>Set-up code <input name="code" autocomplete="off" required\(value(code))></label></p>
                <p><label>User name
                <input name="username" autocomplete="username" required\(value(name))></label></p>
                <p><label>Password, at least 10 characters
                <input name="password" type="password" autocomplete="new-password" minlength="10" required></label></p>
                <p><button>Make the administrator</button></p>
                </form>
                """
        )
    }
}
