import GraphQL
import GraphQLTransport
package import TocsinCore

// What is served to whoever shows nothing of who they are: signing in, and nothing else.
extension TocsinGraphQL {
    static let missingCredentials = "Valid authorization header not provided."

    /// Whoever shows nothing of who they are, where people sign in by a password.
    package var stranger: Identity? { services.signIn?.takesPasswords == true ? .stranger : nil }

    /// Runs a sign-in; whatever else is asked for is answered as if nothing of it had been read.
    func operation(
        ofStranger request: GraphQLRequest,
        _ style: ResponseStyle,
        from source: RequestSource?
    ) -> OperationLookup {
        let plan: ExecutionPlan
        do throws(RequestErrors) {
            let document = try document(of: request)
            plan = try executor.plan(ofStranger: document.text, operationName: request.operationName)
        } catch {
            return .refused(message: Self.missingCredentials)
        }
        // Each sign-in of a request would be one more guess of a password.
        let fields = plan.rootFieldNames.filter { $0 != "__typename" }
        guard plan.operationKind == .mutation, fields == ["signIn"] else {
            return .refused(message: Self.missingCredentials)
        }
        return .mutation { [self] in
            await RequestOrigin.$current.withValue(source.map { RequestOrigin($0) }) {
                let context = RequestContext(caller: .stranger, services: services)
                return await reply(plan, request, context, style, asked: .now)
            }
        }
    }
}
