import TocsinCore
import TocsinReceivers

/// A field of `Settings`.
typealias SettingField<Value> = any WritableKeyPath<Settings, Value> & Sendable

/// The kinds of values that settings have.
extension SettingDefinition {
    /// What copies a field.
    static func copying<Value>(
        _ field: SettingField<Value>
    ) -> @Sendable (_ from: Settings, _ to: inout Settings) -> Void {
        { from, to in to[keyPath: field] = from[keyPath: field] }
    }

    static func integer(
        _ key: String,
        _ field: SettingField<Int>,
        _ range: ClosedRange<Int>,
        _ help: String
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            guard let value = Int(text), range.contains(value) else {
                return "write a whole number from \(range.lowerBound) to \(range.upperBound)"
            }
            settings[keyPath: field] = value
            return nil
        } text: {
            String($0[keyPath: field])
        }
    }

    static func seconds(
        _ key: String,
        _ field: SettingField<Double>,
        _ range: ClosedRange<Double>,
        _ help: String
    ) -> SettingDefinition {
        decimal(key, field, range, help).unit("seconds")
    }

    /// A whole number that need not be given.
    static func optionalInteger(
        _ key: String,
        _ field: SettingField<Int?>,
        _ range: ClosedRange<Int>,
        _ help: String
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            guard let value = Int(text), range.contains(value) else {
                return "write a whole number from \(range.lowerBound) to \(range.upperBound), or leave it out"
            }
            settings[keyPath: field] = value
            return nil
        } text: {
            $0[keyPath: field].map(String.init)
        }
    }

    /// A length of time in seconds that need not be given: `90s`, `15m`, `12h`, `30d`, `1y`.
    static func duration(
        _ key: String,
        _ field: SettingField<Double?>,
        _ range: ClosedRange<Double>,
        _ help: String
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            guard let seconds = TimeLength.seconds(text), range.contains(seconds) else {
                return "write a length of time with its unit, such as 90m, 12h, 30d or 1y"
            }
            settings[keyPath: field] = seconds
            return nil
        } text: {
            $0[keyPath: field].map(TimeLength.text)
        }
    }

    static func decimal(
        _ key: String,
        _ field: SettingField<Double>,
        _ range: ClosedRange<Double>,
        _ help: String
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            guard let value = plainDecimal(text), range.contains(value) else {
                return "write a number from \(shown(range.lowerBound)) to \(shown(range.upperBound))"
            }
            settings[keyPath: field] = value
            return nil
        } text: {
            shown($0[keyPath: field])
        }
    }

    /// A comma list of pauses.
    static func pauses(_ key: String, _ field: SettingField<[Double]>, _ help: String) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            let parts = split(text)
            let values = parts.compactMap(plainDecimal)
            guard values.count == parts.count, (1...100).contains(values.count),
                values.allSatisfy({ (0...86_400).contains($0) })
            else { return "write 1 to 100 pauses of 0 to 86400 seconds with commas between, such as 1,5,30" }
            settings[keyPath: field] = values
            return nil
        } text: { settings in
            let values = settings[keyPath: field]
            return values.isEmpty ? nil : values.map(shown).joined(separator: ",")
        }.unit("seconds")
    }

    static func flag(_ key: String, _ field: SettingField<Bool>, _ help: String) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            guard let value = truth(text) else { return "write true or false" }
            settings[keyPath: field] = value
            return nil
        } text: {
            String($0[keyPath: field])
        }.asFlag()
    }

    static func text(
        _ key: String,
        _ field: SettingField<String>,
        _ help: String,
        check: @escaping @Sendable (String) -> SettingProblem? = { _ in nil }
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            if let problem = check(text) { return problem }
            settings[keyPath: field] = text
            return nil
        } text: {
            $0[keyPath: field]
        }
    }

    static func choice(
        _ key: String,
        _ field: SettingField<String>,
        _ values: [String],
        _ help: String
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            guard values.contains(text.lowercased()) else { return "write one of \(values.joined(separator: ", "))" }
            settings[keyPath: field] = text.lowercased()
            return nil
        } text: {
            $0[keyPath: field]
        }
    }

    /// Text that need not be given.
    static func optional(
        _ key: String,
        _ field: SettingField<String?>,
        _ help: String,
        check: @escaping @Sendable (String) -> SettingProblem? = { _ in nil }
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            if let problem = check(text) { return problem }
            settings[keyPath: field] = text
            return nil
        } text: {
            $0[keyPath: field]
        }
    }

    static func list(
        _ key: String,
        _ field: SettingField<[String]>,
        _ help: String,
        check: @escaping @Sendable (String) -> SettingProblem? = { _ in nil }
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            let values = split(text)
            for value in values {
                if let problem = check(value) { return problem }
            }
            settings[keyPath: field] = values
            return nil
        } text: { settings in
            let values = settings[keyPath: field]
            return values.isEmpty ? nil : values.joined(separator: ",")
        }
    }

    /// A comma list of topics, each of which is a series of its own.
    static let metricsTopics = SettingDefinition(
        "metrics-topics",
        "Ids of up to 50 topics, with commas, whose messages are counted for each of them (docs/metrics.md).",
        copy: copying(\.server.metricsTopics)
    ) { text, settings in
        let ids = split(text)
        guard ids.count <= 50 else { return "list at most 50 topics; these are \(ids.count)" }
        settings.server.metricsTopics = ids
        return nil
    } text: { settings in
        let ids = settings.server.metricsTopics
        return ids.isEmpty ? nil : ids.joined(separator: ",")
    }

    /// The shapes of senders that are taken, by the names that they have in paths.
    static let receiverShapes = SettingDefinition(
        "receiver-shapes",
        "The shapes of senders that are taken: all, or some of them with commas, such as ntfy,alertmanager; "
            + "paths of others are not there.",
        copy: copying(\.server.receiverShapes)
    ) { text, settings in
        let names = split(text.lowercased())
        let known = Integration.Kind.allCases.map(Receivers.pathName).joined(separator: ", ")
        guard names != ["all"] else {
            settings.server.receiverShapes = Set(Integration.Kind.allCases)
            return nil
        }
        guard !names.isEmpty else { return "write all, or some of \(known)" }
        var shapes: Set<Integration.Kind> = []
        for name in names {
            guard let kind = Receivers.kind(named: name) else {
                return "there is no shape \(name); write all, or some of \(known)"
            }
            shapes.insert(kind)
        }
        settings.server.receiverShapes = shapes
        return nil
    } text: { settings in
        let shapes = settings.server.receiverShapes
        let kinds = Integration.Kind.allCases.filter(shapes.contains)
        return kinds.count == Integration.Kind.allCases.count
            ? "all" : kinds.map(Receivers.pathName).joined(separator: ",")
    }

    static func secret(
        _ key: String,
        _ field: SettingField<Secret?>,
        _ help: String,
        fileVariables: [String] = [],
        check: @escaping @Sendable (String) -> SettingProblem?
    ) -> SettingDefinition {
        SettingDefinition(key, help, copy: copying(field)) { text, settings in
            if let problem = check(text) { return problem }
            settings[keyPath: field] = Secret(text)
            return nil
        } text: {
            $0[keyPath: field]?.description
        }.secret(fileVariables: fileVariables)
    }

    /// `true` and `false` and what people write for them.
    static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "on", "1": true
        case "false", "no", "off", "0": false
        default: nil
        }
    }

    private static func split(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
    }

    /// Digits with at most one point: no exponents, infinities or hexadecimal.
    private static func plainDecimal(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else { return nil }
        return Double(text)
    }

    private static func shown(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : String(value)
    }
}

extension StringProtocol {
    /// The text without white space at its ends.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
