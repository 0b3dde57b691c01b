/// What one call of the GraphQL tool was asked to do.
///
/// Read by hand and not by the argument parser, because with `--stdin-lines`
/// each line brings its own.
struct GraphQLArguments {
    enum Action: String {
        case parse
        case print
        case validate
        case execute
    }

    var action: Action
    var file: String
    var schema: String?
    var rootValue: String?
    var variables: String?
    var operation: String?
    var echoesArguments = false

    static let usage = """
        parse [--sdl] FILE
            Prints the document as JSON in the shape of graphql-js's tree; positions count UTF-16 code units.
        print FILE
            Prints the document as canonical text.
        validate --schema S FILE
            Prints the errors as JSON; exit code 1 if there are any.
        execute --schema S [--root-value R.json] [--variables V.json] [--operation N] [--echo-args] FILE
            Validates, executes against the JSON root value and prints the response. __typename in the root value
            decides abstract types; with --echo-args a value "$args" answers with the field's arguments.
        [ARGUMENTS…] --stdin-lines
            Reads one request a line, {"args": [...], "files": {"name": "text"}}, and answers each with one line,
            {"exit": 0, "out": "..."}. A line's arguments follow those of the command line.

        - reads standard input. Exit code 0: done; 1: the document, schema, request or call has errors, told as
        {"errors": [...]} on standard output.
        """

    /// Throws when the arguments make no call, saying what is missing or unknown.
    init(_ arguments: [String]) throws(CommandFailure) {
        var rest = arguments[...]
        if rest.first == "graphql" { rest = rest.dropFirst() }
        guard let word = rest.popFirst(), let action = Action(rawValue: word) else {
            throw CommandFailure("Say what to do: parse, print, validate or execute; --help tells more.")
        }
        var files: [String] = []
        self.action = action
        file = "-"
        while let argument = rest.popFirst() {
            if argument == "-" || !argument.hasPrefix("-") {
                files.append(argument)
            } else {
                try take(option: argument, &rest)
            }
        }
        guard files.count == 1 else {
            throw CommandFailure("graphql \(word) takes one file, not \(files.count); - reads standard input.")
        }
        file = files[0]
        if action == .validate || action == .execute, schema == nil {
            throw CommandFailure("graphql \(word) needs --schema with the file of the schema's SDL.")
        }
    }

    private mutating func take(option: String, _ rest: inout ArraySlice<String>) throws(CommandFailure) {
        let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        func value() throws(CommandFailure) -> String {
            if parts.count == 2 { return parts[1] }
            guard let value = rest.popFirst() else { throw CommandFailure("\(parts[0]) needs a value.") }
            return value
        }
        switch parts[0] {
        // Both kinds of documents share one grammar, so the flag asks for nothing
        // that is not done anyway.
        case "--sdl": break
        case "--schema": schema = try value()
        case "--root-value": rootValue = try value()
        case "--variables": variables = try value()
        case "--operation": operation = try value()
        case "--echo-args": echoesArguments = true
        default: throw CommandFailure("graphql \(action.rawValue) knows no option \(parts[0]).")
        }
    }
}
