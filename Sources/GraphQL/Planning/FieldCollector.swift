import JSON

/// A field as it stands in the document, with what must hold for it to be included.
struct CollectedField: Sendable {
    var field: Field
    var conditions: [Condition]
}

/// Fields of one response key, gathered at one place.
struct FieldGroup {
    let responseKey: String
    let definition: Schema.Field
    private(set) var fields: [CollectedField] = []
    private(set) var ordinals: [Int] = []

    /// `"key":` in UTF-8, escaped.
    var keyBytes: [UInt8] {
        var writer = JSONWriter(capacity: responseKey.utf8.count + 3)
        writer.string(responseKey)
        writer.byte(UInt8(ascii: ":"))
        return writer.bytes
    }

    var occurrences: [PlannedField.Occurrence] {
        zip(ordinals, fields).map { ordinal, collected in
            PlannedField.Occurrence(
                ordinal: ordinal,
                location: collected.field.location,
                conditions: collected.conditions
            )
        }
    }

    init(responseKey: String, definition: Schema.Field) {
        self.responseKey = responseKey
        self.definition = definition
    }

    mutating func add(_ field: CollectedField, ordinal: Int) {
        fields.append(field)
        ordinals.append(ordinal)
    }

    /// The selection sets below, with what must still hold for each once the field itself is included.
    var subselections: [(set: SelectionSet, conditions: [Condition])] {
        let isUniform = fields.allSatisfy { $0.conditions == fields.first?.conditions }
        return fields.compactMap { collected in
            collected.field.selectionSet.map { ($0, isUniform ? [] : collected.conditions) }
        }
    }
}

/// GraphQL §6.3.2 CollectFields, for one object type, with conditions on variables kept instead of decided.
struct FieldCollector {
    let schema: Schema
    let fragments: [String: FragmentDefinition]
    let type: Schema.NamedType
    /// The place of each variable among the plan's switches.
    var switches: [String]
    private(set) var groups: [FieldGroup] = []
    private var positions: [String: Int] = [:]
    private var visited: Set<VisitedFragment> = []
    private var ordinal = 0

    private struct VisitedFragment: Hashable {
        var name: String
        var conditions: [Condition]
    }

    init(
        schema: Schema,
        fragments: [String: FragmentDefinition],
        type: Schema.NamedType,
        switches: [String]
    ) {
        self.schema = schema
        self.fragments = fragments
        self.type = type
        self.switches = switches
    }

    mutating func collect(_ set: SelectionSet, _ conditions: [Condition]) {
        for selection in set.selections {
            switch selection {
            case .field(let field):
                guard let conditions = adding(field.directives, to: conditions) else { continue }
                collect(CollectedField(field: field, conditions: conditions))
            case .inlineFragment(let fragment):
                guard let conditions = adding(fragment.directives, to: conditions),
                    fragment.typeCondition.map(applies) ?? true
                else { continue }
                collect(fragment.selectionSet, conditions)
            case .fragmentSpread(let spread):
                guard let conditions = adding(spread.directives, to: conditions),
                    let fragment = fragments[spread.name], isFirst(spread.name, conditions),
                    applies(fragment.typeCondition)
                else { continue }
                collect(fragment.selectionSet, conditions)
            }
        }
    }

    private mutating func collect(_ collected: CollectedField) {
        let key = collected.field.responseKey
        if let position = positions[key] {
            groups[position].add(collected, ordinal: ordinal)
        } else if let definition = schema.selectableField(named: collected.field.name, of: type) {
            positions[key] = groups.count
            var group = FieldGroup(responseKey: key, definition: definition)
            group.add(collected, ordinal: ordinal)
            groups.append(group)
        }
        ordinal += 1
    }

    private func applies(_ typeCondition: String) -> Bool {
        guard typeCondition != type.name else { return true }
        return schema.type(named: typeCondition).map { schema.isPossible(type.name, for: $0) } ?? false
    }

    /// Whether a fragment brings anything new; one that stood here unconditionally has brought all it can.
    private mutating func isFirst(_ name: String, _ conditions: [Condition]) -> Bool {
        if visited.contains(VisitedFragment(name: name, conditions: [])) { return false }
        return visited.insert(VisitedFragment(name: name, conditions: conditions)).inserted
    }

    /// The conditions with those of `@skip` and `@include`; `nil` when these exclude for good.
    private mutating func adding(_ directives: [Directive], to conditions: [Condition]) -> [Condition]? {
        var conditions = conditions
        for directive in directives where directive.name == "skip" || directive.name == "include" {
            let expected = directive.name == "include"
            switch directive.argument("if")?.kind {
            case .boolean(let flag)?:
                if flag != expected { return nil }
            case .variable(let name)?:
                let condition = Condition(variable: number(of: name), expected: expected)
                if !conditions.contains(condition) { conditions.append(condition) }
            default: break
            }
        }
        return conditions
    }

    private mutating func number(of variable: String) -> Int {
        if let number = switches.firstIndex(of: variable) { return number }
        switches.append(variable)
        return switches.count - 1
    }
}
