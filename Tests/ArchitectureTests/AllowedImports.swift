/// What each target may import: the arrows of the map in `Sources/ARCHITECTURE.md`.
///
/// SwiftPM lets a target import what its dependencies depend on, so the compiler does not hold
/// the map; this table does. `Synchronization`, a part of the standard library, is allowed
/// everywhere and not listed.
enum AllowedImports {
    static let table: [String: Set<String>] = [
        // Kernel
        // Glibc: reads and writes addresses.
        "Encodings": ["Glibc"],
        "JSON": [],
        // Glibc: tells threads apart.
        "Metrics": ["Glibc"],
        // What apps take without sockets, and what they and the server must write alike.
        "TocsinContent": ["JSON"],
        "GraphQL": ["JSON"],
        "GraphQLTransport": ["GraphQL", "HTTPTypes", "JSON"],
        // Domain
        "TocsinCore": ["Encodings", "Metrics"],
        // Translators
        "TocsinAPI": ["GraphQL", "GraphQLTransport", "JSON", "Metrics", "TocsinCore"],
        "TocsinReceivers": ["Encodings", "JSON", "TocsinCore"],
        "TocsinPush": ["Encodings", "JSON", "Metrics", "TocsinCore"],
        // Glibc: blocking calls wait on POSIX threads of their own, never on the shared pool.
        "TocsinStore": ["Encodings", "Glibc", "Metrics", "TocsinCore"],
        "TocsinAuth": ["COpenSSL", "Encodings", "Glibc", "JSON", "Metrics", "TocsinContent", "TocsinCore"],
        // Sockets and disks
        "TocsinHTTP": nio.union([
            "Encodings", "Glibc", "GraphQLTransport", "HTTPTypes", "JSON", "Logging", "Metrics", "NIOHTTP1", "NIOSSL",
            "NIOWebSocket",
        ]),
        // Glibc: what the system's error numbers mean.
        "TocsinHTTP2": nio.union(["CNGHTTP2", "Glibc", "Metrics", "NIOSSL", "NIOTLS", "TocsinPush"]),
        "TocsinSQLite": ["CSQLite", "Glibc", "Metrics", "TocsinCore", "TocsinStore"],
        "TocsinPostgres": ["CPostgres", "Glibc", "Metrics", "TocsinCore", "TocsinStore"],
        "TocsinNATS": ["CNATS", "Glibc", "TocsinCore"],
        // Products
        "TocsinServer": nio.union([
            "CBuild", "CCurl", "CMalloc", "CZlib", "Encodings", "Glibc", "GraphQL", "GraphQLTransport", "HTTPTypes",
            "JSON", "Logging", "Metrics", "TOMLKit",
            "TocsinAPI", "TocsinAuth", "TocsinCore", "TocsinHTTP", "TocsinHTTP2", "TocsinNATS", "TocsinPostgres",
            "TocsinPush", "TocsinReceivers", "TocsinSQLite", "TocsinStore",
        ]),
        "TocsinSimulator": nio.union([
            "CNGHTTP2", "COpenSSL", "Encodings", "Glibc", "JSON", "NIOHTTP1", "NIOSSL", "NIOTLS", "NIOWebSocket",
        ]),
        "TocsinClient": nio.union([
            "Encodings", "Glibc", "GraphQL", "GraphQLTransport", "JSON", "NIOHTTP1", "NIOSSL", "NIOWebSocket",
            "TocsinContent",
        ]),
        // Commands
        "tocsin": [
            "ArgumentParser", "Dispatch", "Glibc", "GraphQL", "JSON", "Logging", "TocsinAPI", "TocsinAuth",
            "TocsinClient", "TocsinContent", "TocsinCore", "TocsinHTTP", "TocsinReceivers", "TocsinSQLite",
            "TocsinServer", "TocsinSimulator", "TocsinStore",
        ],
        // Measures every part, each by itself.
        "tocsin-bench": nio.union([
            "CEpoll", "CPostgres", "CSQLite", "Foundation", "Glibc", "GraphQL", "JSON", "TocsinAPI", "TocsinAuth",
            "TocsinCore", "TocsinHTTP2", "TocsinPostgres", "TocsinPush", "TocsinSQLite", "TocsinServer",
            "TocsinStore",
        ]),
        // Run while building.
        "embed-files": ["Foundation"],
        "EmbedFilesPlugin": ["Foundation", "PackagePlugin"],
    ]

    /// What comes with the compiler and is declared nowhere.
    static let ofSystem: Set<String> = ["Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization"]

    private static let nio: Set<String> = ["NIOCore", "NIOPosix"]

    /// Targets that may use `FoundationEssentials`, each with its reason; those with
    /// `Foundation` above need none.
    ///
    /// What `tocsin` links has no `Foundation`, which brings 34 MB of Unicode tables.
    static let essentials = [
        "TocsinClient": "the dates at which tokens end and connections change",
        "TocsinServer": "the host's name, Base 64 of dumps, folders of trusted documents",
        "tocsin": "the environment, and absolute paths of the simulator's folder",
    ]

    /// What may be written only with a reason in the comment above, and how often in
    /// all of Sources and Tests.
    ///
    /// A higher number is changed here, in the commit that needs it.
    static let counted: [String: Int] = [
        "@unchecked Sendable": 11,
        "nonisolated(unsafe)": 6,
        "@preconcurrency": 2,
        "@testable": 0,
    ]

    /// What Sources never contain.
    ///
    /// A closure that is a mutex's whole value grows with each access (`CommitSignal`).
    static let refused = ["try!", "as!", "fatalError(", "Mutex<(@"]

    /// Longer files say why in a comment at their head that begins `// Long because`.
    static let mostLines = 500
}
