import GraphQL
import Logging
package import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinHTTP
import TocsinHTTP2
import TocsinReceivers

/// What files declare to be served: the model, the routes and the trusted documents, each
/// held against the schema, and the receivers.
struct Declarations {
    let schema: APISchema
    let executor: ResponseExecutor
    let routes: [Route]
    let receivers: ReceiverCatalog
    let documents: RequestDocuments
    /// Shipped routes that the operator's schema leaves no room for: reasons for the log.
    let warnings: [String]
    private let ownDocuments: [String]
    private let trustedMode: String
    private let sharesTopics: Bool

    /// Reads them all; throws what is wrong with any of them.
    ///
    /// The sealer is for page tokens and cursors; `ownDocuments` are trusted anyway.
    init(_ settings: Settings, sealer: any Sealer, ownDocuments: [String] = []) throws(StartError) {
        let schema = try SchemaLoading.load(settings.server)
        let executor = try Self.executor(schema, sealer: sealer, limits: settings.limits)
        try self.init(settings, schema, executor, ownDocuments: ownDocuments)
    }

    /// Routes, receivers and trusted documents as their files are now, over the schema that is
    /// served; what clients have stored stays.
    func readAnew(_ settings: Settings) throws(StartError) -> Declarations {
        try Declarations(settings, schema, executor, ownDocuments: ownDocuments, earlier: documents)
    }

    private init(
        _ settings: Settings,
        _ schema: APISchema,
        _ executor: ResponseExecutor,
        ownDocuments: [String],
        earlier: RequestDocuments? = nil
    ) throws(StartError) {
        (self.schema, self.executor, self.ownDocuments) = (schema, executor, ownDocuments)
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
        var receivers: ReceiverCatalog?
        do throws(StartError) {
            receivers = try ReceiverLoading.catalog(settings.server)
        } catch {
            problems.append(error.description)
        }
        var documents: RequestDocuments?
        do throws(StartError) {
            documents = try Self.documents(
                settings,
                executor: executor,
                known: routes.flatMap(\.documents) + ownDocuments,
                earlier: earlier
            )
        } catch {
            problems.append(error.description)
        }
        guard let documents, let receivers, problems.isEmpty else { throw StartError(problems.joined(separator: "\n")) }
        (self.documents, self.receivers) = (documents, receivers)
        trustedMode = settings.server.trustedMode
        sharesTopics = settings.server.sharesTopics
    }

    /// Says what there is no room for, and how many documents are trusted.
    func log(to logger: Logger) {
        for reason in warnings {
            logger.warning(
                "the schema leaves no room for a shipped route or search",
                metadata: ["event": "route_left_out", "reason": "\(reason)"]
            )
        }
        if let conflict = schema.peopleConflict {
            logger.notice(
                "the API of people and groups is left out, for the model file needs one of its names",
                metadata: ["event": "people_left_out", "reason": "\(conflict)"]
            )
        }
        if let conflict = schema.incidentConflict {
            logger.notice(
                "incidents, integrations and monitors are left out, for the model file needs one of their names",
                metadata: ["event": "incidents_left_out", "reason": "\(conflict)"]
            )
        }
        if sharesTopics, schema.topics.sharing == nil {
            logger.info(
                "topics cannot be shared: the schema's Topic has no rule for owners",
                metadata: ["event": "sharing_left_out"]
            )
        }
        guard documents.trustedCount > 0 else { return }
        logger.info(
            "trusted documents are known",
            metadata: [
                "event": "documents_trusted", "count": .stringConvertible(documents.trustedCount),
                "mode": "\(trustedMode)",
            ]
        )
    }

    /// The categories of notifications, and states: the operator's file, or those that ship.
    static func categories(path: String?) throws(StartError) -> CategoryReading {
        let reading: CategoryReading
        if let path {
            do throws(SystemFile.Failure) {
                reading = CategoryReading(try SystemFile.text(of: path), file: path)
            } catch {
                throw StartError("\(path) cannot be read: \(error.reason). Mend TOCSIN_CATEGORIES or the file.")
            }
        } else {
            reading = .shipped
        }
        guard reading.problems.isEmpty else { throw StartError(reading.problems.joined(separator: "\n")) }
        return reading
    }

    private static func executor(
        _ schema: APISchema,
        sealer: any Sealer,
        limits: Settings.Limits
    ) throws(StartError) -> ResponseExecutor {
        do {
            return try ResponseExecutor(
                schema: schema,
                sealer: sealer,
                parseLimits: limits.ofParsing,
                validationLimits: limits.ofValidation,
                planOptions: limits.ofPlans,
                maximumResponseBytes: limits.responseBytes
            )
        } catch {
            throw StartError("The schema and the resolvers disagree:\n\(error.description)")
        }
    }

    /// Which documents requests may run; reads and checks those that are trusted.
    private static func documents(
        _ settings: Settings,
        executor: ResponseExecutor,
        known: [String],
        earlier: RequestDocuments?
    ) throws(StartError) -> RequestDocuments {
        let hash: DocumentHash = { Digest.sha256($0) }
        let mode = RequestDocuments.TrustMode(rawValue: settings.server.trustedMode) ?? .off
        var trusted = TrustedDocuments()
        if mode != .off, let path = settings.server.trustedDocumentsPath {
            var reading = TrustedDocumentReading(hash: hash, executor: executor)
            trusted = try reading.documents(at: path)
            // Routes are the operator's word as much as documents are, and our own client is ours.
            for text in known {
                guard let digest = DocumentDigest(hash(Array(text.utf8))) else { continue }
                _ = trusted.add(text, digest: digest)
            }
        }
        if let earlier { return earlier.trusting(trusted, mode: mode) }
        let persisted = PersistedQueries(
            maximumEntries: settings.limits.persistedQueries,
            maximumBytes: settings.limits.persistedQueryBytes
        )
        return RequestDocuments(
            hash: hash,
            persisted: settings.server.persistsQueries ? persisted : nil,
            trusted: trusted,
            mode: mode
        )
    }
}

/// Reads the model file, or takes the one in the binary.
package enum SchemaLoading {
    /// The API of the model that the settings name, or of the one that ships.
    package static func load(_ settings: Settings.Server) throws(StartError) -> APISchema {
        let isSharing = settings.sharesTopics
        do throws(SchemaProblems) {
            guard let path = settings.schemaPath else { return try APISchema(isSharingAllowed: isSharing) }
            return try APISchema(modelText: try text(of: path), modelFile: path, isSharingAllowed: isSharing)
        } catch {
            throw StartError(error.description)
        }
    }

    private static func text(of path: String) throws(SchemaProblems) -> String {
        do throws(SystemFile.Failure) {
            return try SystemFile.text(of: path)
        } catch {
            let message = "The schema file cannot be read: \(error.reason)."
            throw SchemaProblems([SchemaProblem(file: path, line: 1, message: message)])
        }
    }
}

/// Looks into the files that settings name as the start would, without starting
/// anything or making a file.
package enum SettingsCheck {
    /// What would stop the start, and what would be warned of.
    package static func result(of settings: Settings) -> (problems: [String], warnings: [String]) {
        var (problems, warnings) = declared(by: settings)
        do throws(StartError) {
            _ = try Declarations.categories(path: settings.server.categoriesPath)
        } catch {
            problems.append(error.description)
        }
        problems += [
            obstacle(toKeepingDataIn: settings.server), obstacle(toDatabaseOf: settings.server),
            serverKeyProblem(settings.server),
        ].compactMap(\.self)
        do throws(HTTPServerError) {
            try settings.ofHTTPServer.tls?.check()
        } catch {
            problems.append(error.description)
        }
        // One that is no file was told when the settings were read.
        if let path = settings.push.caPath, SystemFile.isPlain(path) {
            do throws(HTTP2SettingsError) {
                try HTTP2Settings(authorityPath: path).check()
            } catch {
                problems.append(error.description)
            }
        }
        return (problems, warnings)
    }

    /// What is wrong with schema, routes, receivers and trusted documents.
    private static func declared(by settings: Settings) -> (problems: [String], warnings: [String]) {
        do throws(StartError) {
            _ = try SchemaLoading.load(settings.server)
        } catch {
            // Documents cannot be held against it; all else of routes and receivers can be told.
            var problems = [error.description] + RouteLoading.problemsOfForm(settings.server.routesPath)
            do throws(StartError) {
                _ = try ReceiverLoading.catalog(settings.server)
            } catch {
                problems.append(error.description)
            }
            return (problems, [])
        }
        do {
            // Only for what this check seals and nobody sees.
            let key = try ServerKey(secret: RandomBytes.make(ServerKey.minimumBytes))
            let declarations = try Declarations(settings, sealer: KeySealer(key))
            let warnings = declarations.warnings.map {
                "The schema leaves no room for a shipped route or search: \($0)"
            }
            return ([], warnings)
        } catch let error as StartError {
            return ([error.description], [])
        } catch {
            return (["\(error)"], [])
        }
    }

    /// What is wrong with the key's file, where there is one; the start makes one otherwise.
    private static func serverKeyProblem(_ server: Settings.Server) -> String? {
        guard server.serverKey == nil, SystemFile.exists(server.dataDirectory + "/" + ServerKey.fileName) else {
            return nil
        }
        do throws(KeyError) {
            _ = try ServerKey.load(from: server.dataDirectory)
            return nil
        } catch {
            return error.description
        }
    }

    /// Why a database outside the data directory cannot be made or written; nil: it can.
    private static func obstacle(toDatabaseOf server: Settings.Server) -> String? {
        guard case .sqlite(let path)? = server.database, path != ":memory:" else { return nil }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard folder != server.dataDirectory + "/" else { return nil }
        guard SystemFile.exists(folder) else {
            return "TOCSIN_DATABASE_URL: there is no folder \(folder) for the database. Make it, or mend the path."
        }
        return SystemFile.obstacle(toWritingIn: folder).map {
            "TOCSIN_DATABASE_URL: the folder \(folder) of the database cannot be written: \($0.reason). Mend the path or its "
                + "permissions."
        }
    }

    /// Why the data directory cannot be used; nil: it can, or nothing would be kept in it.
    private static func obstacle(toKeepingDataIn server: Settings.Server) -> String? {
        if case .postgres = server.databaseAddress, server.serverKey != nil { return nil }
        return SystemFile.obstacle(toWritingIn: server.dataDirectory).map {
            "The data directory \(server.dataDirectory) cannot be written: \($0.reason). Mend TOCSIN_DATA_DIR or its permissions."
        }
    }
}
