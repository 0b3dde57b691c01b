import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinHTTP

/// What files declare to be served: the model, the routes and the trusted documents, each held against the schema.
struct Declarations {
    let schema: APISchema
    let executor: ResponseExecutor
    let routes: [Route]
    let documents: RequestDocuments
    /// Shipped routes that the operator's schema leaves no room for: reasons for the log.
    let warnings: [String]

    /// Reads them all; throws what is wrong with any of them.
    ///
    /// The sealer is for page tokens and cursors.
    init(_ settings: Settings, sealer: any Sealer) throws(StartError) {
        do throws(SchemaProblems) {
            schema = try SchemaLoading.load(path: settings.server.schemaPath)
        } catch {
            throw StartError(error.description)
        }
        executor = try Wiring.executor(schema, sealer: sealer, limits: settings.limits)
        var problems: [String] = []
        var loading: RouteLoading?
        do throws(RouteProblems) {
            loading = try RouteLoading(
                path: settings.server.routesPath,
                servesDebugRoutes: settings.server.servesDebugRoutes,
                executor: executor
            )
        } catch {
            problems.append(error.description)
        }
        routes = loading?.routes ?? []
        warnings = loading?.warnings ?? []
        var documents: RequestDocuments?
        do throws(StartError) {
            documents = try Wiring.documents(settings, executor: executor, routes: routes)
        } catch {
            problems.append(error.description)
        }
        guard let documents, problems.isEmpty else { throw StartError(problems.joined(separator: "\n")) }
        self.documents = documents
    }
}

/// Looks into the files that settings name as the start would, without starting anything or making a file.
package enum SettingsCheck {
    /// What would stop the start, and what would be warned of.
    package static func result(of settings: Settings) -> (problems: [String], warnings: [String]) {
        var problems: [String] = []
        var warnings: [String] = []
        do throws(KeyError) {
            // Only for what this check seals and nobody sees.
            let key = try ServerKey(secret: RandomBytes.make(ServerKey.minimumBytes))
            do throws(StartError) {
                let declarations = try Declarations(settings, sealer: KeySealer(key))
                warnings += declarations.warnings.map {
                    "The schema leaves no room for a shipped route or search: \($0)"
                }
            } catch {
                problems.append(error.description)
            }
        } catch {
            problems.append(error.description)
        }
        do throws(StartError) {
            _ = try CategoryLoading.load(path: settings.server.categoriesPath)
        } catch {
            problems.append(error.description)
        }
        do throws(HTTPServerError) {
            try settings.ofHTTPServer.tls?.check()
        } catch {
            problems.append(error.description)
        }
        return (problems, warnings)
    }
}
