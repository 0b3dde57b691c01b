// swift-tools-version: 6.3
import Foundation
import PackageDescription

/// Whether the doorbell over NATS is built: where its C library is, unless `TOCSIN_NATS=0` says no.
let hasNATS =
    ProcessInfo.processInfo.environment["TOCSIN_NATS"] != "0"
    && ["/usr/include", "/usr/local/include"].contains { FileManager.default.fileExists(atPath: $0 + "/nats/nats.h") }

/// The commit that `tocsin --version` tells, from the scripts that build releases; only its file of C depends on it.
let commitText = ProcessInfo.processInfo.environment["TOCSIN_COMMIT"] ?? ""
let isCommit =
    !commitText.isEmpty && commitText.utf8.count <= 64
    && commitText.allSatisfy { "0123456789abcdef-dirty".contains($0) }
let commit: [CSetting] = isCommit ? [.define("TOCSIN_COMMIT", to: commitText)] : []

/// One set of compiler settings for every target.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Whether the modules are optimised that tests spend most of their time in: in CI (`scripts/test.sh`).
///
/// SwiftPM takes such flags of a package that nobody depends on alone, so they are never there for others.
let isQuick = ProcessInfo.processInfo.environment["TOCSIN_QUICK_TESTS"] == "1"
let quick: Set = ["GraphQL", "JSON"]

func nio(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-nio") }
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

func part(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    exclude: [String] = [],
    plugins: [Target.PluginUsage] = []
) -> Target {
    let optimised: [SwiftSetting] =
        isQuick && quick.contains(name) ? [.unsafeFlags(["-O", "-assert-config", "Debug"])] : []
    return .target(
        name: name,
        dependencies: dependencies,
        exclude: exclude,
        swiftSettings: settings + optimised,
        plugins: plugins
    )
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let natsTargets: [Target] =
    hasNATS
    ? [
        part("TocsinNATS", ["CNATS", "TocsinCore"]),
        .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        tests("TocsinNATSTests", ["TocsinCore", "TocsinNATS"]),
    ] : []

let package = Package(
    name: "tocsin",
    products: [
        .executable(name: "tocsin", targets: ["tocsin"]),
        .executable(name: "tocsin-bench", targets: ["tocsin-bench"]),
        .library(name: "GraphQL", targets: ["GraphQL"]),
        .library(name: "TocsinClient", targets: ["TocsinClient"]),
        .library(name: "TocsinContent", targets: ["TocsinContent"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        // Kernel
        part("Encodings"),
        part("JSON"),
        part("Metrics"),
        part("TocsinContent", ["JSON"]),
        part("GraphQL", ["JSON"]),
        part("GraphQLTransport", ["GraphQL", "JSON", httpTypes]),
        // Domain
        part("TocsinCore", ["Encodings", "Metrics"]),
        // Translators
        part(
            "TocsinAPI",
            ["GraphQL", "GraphQLTransport", "JSON", "Metrics", "TocsinCore"],
            plugins: ["EmbedFiles"]
        ),
        part("TocsinReceivers", ["Encodings", "JSON", "TocsinCore"]),
        part("TocsinPush", ["Encodings", "JSON", "Metrics", "TocsinCore"]),
        part("TocsinStore", ["Encodings", "Metrics", "TocsinCore"], plugins: ["EmbedFiles"]),
        part("TocsinAuth", ["COpenSSL", "Encodings", "JSON", "Metrics", "TocsinContent", "TocsinCore"]),
        // Sockets and disks
        part(
            "TocsinHTTP",
            [
                "Encodings", "GraphQLTransport", "JSON", "Metrics", httpTypes, nio("NIOCore"), nio("NIOPosix"),
                nio("NIOHTTP1"), nio("NIOWebSocket"), nioSSL, logging,
            ]
        ),
        part(
            "TocsinHTTP2",
            ["CNGHTTP2", "Metrics", "TocsinPush", nio("NIOCore"), nio("NIOPosix"), nio("NIOTLS"), nioSSL]
        ),
        part("TocsinSQLite", ["CSQLite", "Metrics", "TocsinCore", "TocsinStore"]),
        part("TocsinPostgres", ["CPostgres", "Metrics", "TocsinCore", "TocsinStore"]),
        // Products
        .target(
            name: "TocsinServer",
            dependencies: [
                "CBuild", "CCurl", "CMalloc", "CZlib", "Encodings", "GraphQL", "GraphQLTransport", "JSON", "Metrics",
                "TocsinAPI", "TocsinAuth", "TocsinCore",
                "TocsinHTTP", "TocsinHTTP2", "TocsinPostgres", "TocsinPush", "TocsinReceivers", "TocsinSQLite",
                "TocsinStore",
                httpTypes, nio("NIOCore"), nio("NIOPosix"), logging, .product(name: "TOMLKit", package: "TOMLKit"),
            ] + (hasNATS ? ["TocsinNATS"] : []),
            swiftSettings: settings + (hasNATS ? [.define("TOCSIN_NATS")] : []),
            plugins: ["EmbedFiles"]
        ),
        part(
            "TocsinSimulator",
            [
                "CNGHTTP2", "COpenSSL", "Encodings", "JSON", nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
                nio("NIOTLS"), nio("NIOWebSocket"), nioSSL,
            ]
        ),
        part(
            "TocsinClient",
            [
                "Encodings", "GraphQLTransport", "JSON", "TocsinContent", nio("NIOCore"), nio("NIOPosix"),
                nio("NIOHTTP1"), nio("NIOWebSocket"), nioSSL,
            ],
            exclude: ["Browser"]
        ),
        // Commands
        .executableTarget(
            name: "tocsin",
            dependencies: [
                "GraphQL", "JSON", "TocsinAPI", "TocsinAuth", "TocsinClient", "TocsinContent", "TocsinCore",
                "TocsinHTTP", "TocsinReceivers", "TocsinSQLite", "TocsinServer", "TocsinSimulator", "TocsinStore",
                argumentParser, logging,
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "tocsin-bench",
            dependencies: [
                "CEpoll", "CPostgres", "CSQLite", "GraphQL", "JSON", "TocsinAPI", "TocsinAuth", "TocsinCore",
                "TocsinHTTP2", "TocsinPostgres", "TocsinPush", "TocsinSQLite", "TocsinServer", "TocsinStore",
                nio("NIOCore"), nio("NIOPosix"),
            ],
            swiftSettings: settings
        ),
        .target(name: "CBuild", cSettings: commit),
        // Foreign libraries, fenced in
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // Embeds schema/, migrations/ and the client for browsers into the binary
        .plugin(
            name: "EmbedFiles",
            capability: .buildTool(),
            dependencies: ["embed-files"],
            path: "Sources/EmbedFilesPlugin"
        ),
        .executableTarget(name: "embed-files", swiftSettings: settings),
        // Tests
        .target(
            name: "TestDatabases",
            dependencies: ["TocsinCore", "TocsinPostgres", "TocsinSQLite", "TocsinStore"],
            path: "Tests/TestDatabases",
            swiftSettings: settings
        ),
        tests("ArchitectureTests", []),
        tests("JSONTests", ["JSON"]),
        tests("MetricsTests", ["Metrics"]),
        tests("TocsinContentTests", ["JSON", "TocsinContent"]),
        tests("GraphQLTests", ["GraphQL", "JSON"], exclude: ["Golden"]),
        tests("GraphQLTransportTests", ["GraphQL", "GraphQLTransport", "JSON", httpTypes]),
        tests("TocsinCoreTests", ["Encodings", "Metrics", "TocsinCore"]),
        tests(
            "TocsinAPITests",
            [
                "GraphQL", "GraphQLTransport", "JSON", "Metrics", "TestDatabases", "TocsinAPI", "TocsinAuth",
                "TocsinContent", "TocsinCore", "TocsinSQLite", "TocsinStore",
            ],
            exclude: ["Conformance/cases", "Conformance/amplify-schema.graphql", "Tokens/token-scopes.txt"]
        ),
        tests(
            "TocsinReceiversTests",
            ["JSON", "TocsinContent", "TocsinCore", "TocsinReceivers"],
            exclude: ["Receivers", "Recorded"]
        ),
        tests(
            "TocsinPushTests",
            [
                "Encodings", "JSON", "Metrics", "TestDatabases", "TocsinAuth", "TocsinCore", "TocsinHTTP2",
                "TocsinPush", "TocsinSimulator", "TocsinSQLite", "TocsinStore", nio("NIOPosix"),
            ],
            exclude: ["Golden"]
        ),
        tests(
            "TocsinStoreTests",
            ["Encodings", "Metrics", "TestDatabases", "TocsinCore", "TocsinPostgres", "TocsinSQLite", "TocsinStore"]
        ),
        tests(
            "TocsinAuthTests",
            [
                "Encodings", "JSON", "Metrics", "TestDatabases", "TocsinAuth", "TocsinContent", "TocsinCore",
                "TocsinSQLite", "TocsinStore",
            ]
        ),
        tests(
            "TocsinHTTPTests",
            [
                "Encodings", "GraphQLTransport", "JSON", "Metrics", "TocsinHTTP", httpTypes, logging, nio("NIOCore"),
                nio("NIOPosix"),
            ]
        ),
        tests(
            "TocsinHTTP2Tests",
            [
                "JSON", "TocsinAuth", "TocsinCore", "TocsinHTTP2", "TocsinPush", "TocsinSimulator", nio("NIOCore"),
                nio("NIOPosix"),
            ]
        ),
        tests("TocsinClientTests", ["Encodings", "GraphQLTransport", "JSON", "TocsinClient", "TocsinHTTP", logging]),
        tests(
            "TocsinServerTests",
            [
                "JSON", "Metrics", "TestDatabases", "TocsinAuth", "TocsinCore", "TocsinSQLite", "TocsinServer",
                "TocsinStore",
            ]
        ),
        tests(
            "IntegrationTests",
            [
                "JSON", "TestDatabases", "TocsinClient", "TocsinCore", "TocsinPostgres", "TocsinSQLite", "TocsinServer",
                "TocsinSimulator", "TocsinStore",
            ]
        ),
    ] + natsTargets
)
