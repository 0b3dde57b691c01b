public import JSON

/// How a request is answered.
public struct ExecutionOptions: Sendable {
    /// Writes one error of the response; the default is the shape of GraphQL §7.1.2.
    public var errorEncoding: @Sendable (GraphQLError, inout JSONWriter) -> Void
    /// How many errors a response tells; further ones are counted in nothing and told nowhere.
    public var maximumErrors: Int
    /// How many bytes a response has at most, about; a longer one is refused with
    /// `RequestErrors` of kind `size`.
    public var maximumBytes = 16 * 1024 * 1024
    /// Whether errors about unknown names in variables end in similar names of the schema.
    public var suggests = true
    /// Asked before each level is resolved; when it says no, the request ends with
    /// an error instead of data.
    ///
    /// Resolvers that wait must watch the time themselves, or be cancelled.
    public var hasTimeLeft: (@Sendable () -> Bool)?

    /// Options with their defaults.
    public init(
        maximumErrors: Int = 1000,
        errorEncoding: @escaping @Sendable (GraphQLError, inout JSONWriter) -> Void = { $0.write(to: &$1) }
    ) {
        self.maximumErrors = maximumErrors
        self.errorEncoding = errorEncoding
    }
}

/// The answer to a request (GraphQL §7).
public struct ExecutionResult: Sendable {
    /// The complete response object as JSON: `{"data":…,"errors":[…]}`, or
    /// `{"errors":[…]}` for a request error.
    public let bytes: [UInt8]
    /// The errors of the response.
    public let errors: [GraphQLError]
    /// Why the response has no data: the request was refused, or ended before its time.
    ///
    /// A mutation that ended so may have changed something.
    public let requestErrors: RequestErrors?

    /// Whether the response tells any error.
    public var hadErrors: Bool { !errors.isEmpty }

    /// The answer to a request that was refused.
    public init(refused requestErrors: RequestErrors, options: ExecutionOptions = ExecutionOptions()) {
        var writer = JSONWriter()
        writer.byte(UInt8(ascii: "{"))
        Self.write(requestErrors.errors, to: &writer, options)
        writer.byte(UInt8(ascii: "}"))
        bytes = writer.bytes
        errors = requestErrors.errors
        self.requestErrors = requestErrors
    }

    init(bytes: [UInt8], errors: [GraphQLError]) {
        self.bytes = bytes
        self.errors = errors
        requestErrors = nil
    }

    /// Writes `"errors":[…]`.
    static func write(_ errors: [GraphQLError], to writer: inout JSONWriter, _ options: ExecutionOptions) {
        writer.raw("\"errors\":[")
        for (index, error) in errors.enumerated() {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            options.errorEncoding(error, &writer)
        }
        writer.byte(UInt8(ascii: "]"))
    }
}
