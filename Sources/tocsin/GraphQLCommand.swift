import ArgumentParser

/// The commands `tocsin graphql parse`, `print`, `validate` and `execute`: the engine as a tool.
struct GraphQLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graphql",
        abstract: "Use the GraphQL engine as a tool: parse, print, validate or execute a document.",
        discussion: GraphQLArguments.usage
    )

    @Argument(parsing: .captureForPassthrough, help: "What to do, its options and a file; - reads standard input.")
    var arguments: [String] = []

    func run() async throws {
        let status = await GraphQLTool.main(arguments)
        if status != 0 { throw ExitCode(status) }
    }
}
