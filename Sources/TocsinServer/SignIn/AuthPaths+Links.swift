import GraphQLTransport
import HTTPTypes
import JSON
import TocsinAuth
import TocsinCore
import TocsinHTTP

// Linking a provider's identity to a local user, who has proved to be here and proves to be there.
extension AuthPaths {
    /// `{provider, return}`: where the browser goes to prove who its user is with a provider.
    func beginLink(_ request: IncomingRequest) async -> OutgoingResponse {
        await answering { () async throws(AuthFault) in
            let caller = try await caller(request)
            let members = try ownMembers(request)
            guard let provider = members["provider"]?.stringValue.flatMap({ signIn.providers?.signIns[$0] }) else {
                throw AuthFault(AuthAnswer.error(.badRequest, .badUserInput, "There is no such sign-in provider."))
            }
            let session = try await mayLink(caller)
            let path = members["return"]?.stringValue
            note(returnTo: path)
            return try await sending(to: provider, request, isLink: true) { () async throws(OIDCRefusal) in
                try await provider.begin(returnTo: path, linking: session.id)
            }
        }
    }

    private func mayLink(_ caller: Identity) async throws(AuthFault) -> Session {
        do throws(ServiceError) {
            return try await signIn.identities.requireLinking(by: caller)
        } catch .limit(let text) {
            throw AuthFault(AuthAnswer.error(.conflict, .limit, text))
        } catch {
            throw AuthFault(AuthAnswer.error(error, report: report))
        }
    }

    /// Links who came back from a provider to the user of the session that began.
    ///
    /// Browsers send a session's cookie along only where provider and server are of one site; then
    /// it must be that session's.
    func link(
        _ person: VouchedPerson,
        by session: TokenID,
        _ path: String,
        _ request: IncomingRequest,
        _ used: [(name: String, value: String)]
    ) async -> OutgoingResponse {
        func refused(_ status: HTTPResponse.Status, _ code: String, _ advice: String) -> OutgoingResponse {
            signIn.note(SignInRefusal(reason: code, sentence: advice, provider: person.provider))
            let back = "<p>Code: <code>\(code)</code></p><p><a href=\"\(signIn.home)account\">Back</a></p>"
            return AuthAnswer.page(status, title: "Not linked", body: "<p>\(advice)</p>" + back, used)
        }
        if let secret = request.cookie(signIn.cookies.name) {
            guard case .identity(let caller) = await authenticator.authenticate(cookie: secret),
                caller.tokenID == session
            else {
                return refused(
                    .forbidden,
                    "link_other_session",
                    "Somebody else has signed in meanwhile. Begin again from your account."
                )
            }
        }
        do throws(ServiceError) {
            _ = try await signIn.identities.link(person, by: session)
            return AuthAnswer.seeOther(path == "/" ? signIn.home : path, used)
        } catch .conflicting(let text) {
            return refused(.conflict, "identity_taken", text)
        } catch .limit(let text) {
            return refused(.conflict, "too_many_identities", text)
        } catch .unauthenticated, .badInput {
            return refused(.forbidden, "session_over", "Your session is over. Sign in, and begin again.")
        } catch {
            let status = AuthAnswer.error(error, report: report).status
            return refused(status, "unavailable", "The server cannot do this just now. Begin again in a minute.")
        }
    }
}
