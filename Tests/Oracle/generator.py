"""Random documents, data and broken texts from a seed, for any schema."""

import json
import random
import re

import graphql as gql

WRONG = ["null", "1", '"x"', "true", "RED", "1.5", "[1]", "{a: 1}", "99999999999", "[]", "{}", "$nope"]
TOKENS = ["{", "}", "(", ")", "$", "!", "@", "|", "&", ":", "=", "[", "]", "...", "on", "1", "01", "1.", "-", "1e", "2a",
          '"', '"""', '"x"', '"\\x"', '"\\u12"', '"\\u{110000}"', '"\\uD800"', '"\\u{1F600}"', ".", "\\", "é", "'", "\u0007",
          "\n", "#c\n", "query", "fragment", "extend", "null", "type", "input", "directive", "repeatable", "implements"]
PIECES = re.compile(r'"""(?:\\"""|.)*?"""|"(?:\\.|[^"\\\n])*"|\.\.\.|[A-Za-z_]\w*|-?\d[\w.]*|\s+|.', re.S)


def mutated(text, random_, edits=1):
    """The text with a few tokens taken out, put in or exchanged."""
    pieces = PIECES.findall(text)
    for _ in range(edits):
        if not pieces:
            break
        at, kind = random_.randrange(len(pieces)), random_.random()
        if kind < 0.4:
            del pieces[at]
        elif kind < 0.7:
            pieces.insert(at, random_.choice(TOKENS))
        elif kind < 0.85:
            other = random_.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
        else:
            del pieces[at:]
    return "".join(pieces)


class Documents:
    """One random document; `wild` is how often something is done that the rules forbid."""

    def __init__(self, schema, seed, wild=0.0, depth=4):
        self.schema, self.random, self.wild, self.depth = schema, random.Random(seed), wild, depth
        self.fragments, self.variables, self.fields_left = [], {}, 50

    def chance(self, probability):
        return self.random.random() < probability

    def document(self):
        roots = {"query": self.schema.query_type, "mutation": self.schema.mutation_type,
                 "subscription": self.schema.subscription_type}
        kind = self.random.choice(["query"] * 6 + [name for name in ("mutation", "subscription") if roots[name]])
        root = roots[kind]
        if kind == "subscription" and not self.chance(self.wild):
            name = self.random.choice(list(root.fields))
            body = "{ " + self.field(root, name, 0, plain=True) + " }"
        else:
            body = self.selection(root, 0)
        declared = ", ".join(self.declaration(name, type_) for name, type_ in self.variables.items())
        head = kind + self.random.choice([" Q", ""]) + (f"({declared})" if declared else "")
        if self.chance(self.wild):
            head += self.random.choice([" @onQuery", " @onField", " @nope"])
        parts = [head + " " + body] + self.fragments
        if self.chance(self.wild / 4):
            parts.append(self.random.choice(["query Q { __typename }", "{ __typename }", "fragment X on Dog { name } fragment X on Cat { name }",
                                             "fragment Unused on Dog { nickname }", "type T { a: Int }"]))
        return "\n".join(parts)

    def declaration(self, name, type_):
        text = str(type_)
        if self.chance(self.wild):
            text = self.random.choice(["Int", "String!", "[Color]", "Dog", "Nope", text + "!", text.rstrip("!")])
        default = ""
        if self.chance(0.2) and not gql.is_non_null_type(type_):
            default = " = " + self.value(type_, constant=True)
        return f"${name}: {text}{default}" + self.random.choice(self.at("VARIABLE_DEFINITION") or [""] if self.chance(0.05) else [""])

    def selection(self, type_, depth):
        parts = [self.selected(type_, depth) for _ in range(self.random.randint(1, 4 if self.fields_left > 0 else 1))]
        return "{ " + " ".join(parts) + " }"

    def selected(self, type_, depth):
        kind = self.random.random()
        fields = getattr(type_, "fields", {})
        if kind < 0.68 and fields:
            return self.field(type_, self.random.choice(list(fields)), depth)
        if kind < 0.78 or depth > self.depth:
            return self.random.choice(["__typename", "t: __typename"]) + self.directives("FIELD")
        inner = type_
        if gql.is_abstract_type(type_):
            inner = self.random.choice(list(self.schema.get_possible_types(type_)) + [type_])
        elif type_.interfaces and self.chance(0.3):
            inner = self.random.choice(type_.interfaces)
        if self.chance(self.wild):
            inner = self.random.choice([t for t in self.schema.type_map.values() if gql.is_composite_type(t)
                                        and not t.name.startswith("__")])
        if kind < 0.9:
            condition = f" on {inner.name}" if inner is not type_ or self.chance(0.5) else ""
            return f"...{condition}{self.directives('INLINE_FRAGMENT')} " + self.selection(inner, depth + 1)
        name = f"F{len(self.fragments)}"
        self.fragments.append(None)
        body = self.selection(inner, depth + 1)
        self.fragments[int(name[1:])] = f"fragment {name} on {inner.name} {body}"
        again = f" ...{name}" + self.directives("FRAGMENT_SPREAD") if self.chance(0.3) else ""
        return f"...{name}{self.directives('FRAGMENT_SPREAD')}{again}"

    def field(self, type_, name, depth, plain=False):
        self.fields_left -= 1
        if self.chance(self.wild):
            name = self.random.choice(["nope", "__schema", "name", "volume", name])
        definition = getattr(type_, "fields", {}).get(name)
        if definition is None:
            return name
        result = gql.get_named_type(definition.type)
        if gql.is_composite_type(result) and (depth > self.depth or self.fields_left < 0) and not plain:
            return "__typename"
        arguments = self.arguments(definition.args)
        alias = f"x{self.random.randint(0, 99999)}: " if arguments or self.chance(0.15) else ""
        if self.chance(self.wild):
            alias = self.random.choice(["", "name: ", "x: "])
        text = alias + name + arguments + ("" if plain else self.directives("FIELD"))
        if gql.is_composite_type(result) != self.chance(self.wild / 3):
            text += " " + (self.selection(result, depth + 1) if gql.is_composite_type(result) else "{ q }")
        return text

    def arguments(self, definitions):
        given = []
        for name, argument in definitions.items():
            if (gql.is_required_argument(argument) and not self.chance(self.wild)) or self.chance(0.45):
                has_default = argument.default_value is not gql.Undefined
                given.append(f"{name}: {self.value(argument.type, has_default=has_default)}")
        if self.chance(self.wild):
            given.append(self.random.choice(["nope: 1"] + given))
        return "(" + ", ".join(given) + ")" if given else ""

    def directives(self, place):
        if self.chance(0.82):
            return ""
        fitting = ["@skip(if: true)", "@include(if: false)", "@include(if: true)", "@skip(if: {b})", "@include(if: {b})",
                   "@skip(if: {b}) @include(if: {b})"]
        fitting += [text.strip() for text in self.at(place)]
        if self.chance(self.wild):
            fitting = ["@skip", "@nope", "@onQuery", '@include(if: "x")', "@onField @onField", "@skip(if: true, if: true)"]
        text = self.random.choice(fitting)
        while "{b}" in text:
            text = text.replace("{b}", self.variable(gql.GraphQLNonNull(gql.GraphQLBoolean)), 1)
        return " " + text

    def at(self, place):
        """The schema's own directives that may stand in a place, without arguments."""
        return [f" @{directive.name}" + (f" @{directive.name}" if directive.is_repeatable and self.chance(0.3) else "")
                for directive in self.schema.directives if any(l.value == place.lower().replace("_", " ") for l in directive.locations)
                and not any(gql.is_required_argument(a) for a in directive.args.values())]

    def variable(self, type_):
        known = [name for name, other in self.variables.items() if str(other) == str(type_)]
        if known and self.chance(0.6):
            return "$" + known[0]
        name = f"v{len(self.variables)}"
        self.variables[name] = type_
        return "$" + name

    def value(self, type_, constant=False, depth=0, has_default=False, one_of=False):
        if self.chance(self.wild):
            return self.random.choice(WRONG)
        if not constant and depth < 3 and self.chance(0.25):
            if one_of and not gql.is_non_null_type(type_):
                type_ = gql.GraphQLNonNull(type_)
            return self.variable(type_)
        if gql.is_non_null_type(type_):
            return self.value_of(type_.of_type, constant, depth)
        return "null" if self.chance(0.08) and not one_of else self.value_of(type_, constant, depth)

    def value_of(self, type_, constant, depth):
        if gql.is_list_type(type_):
            if depth < 4 and self.chance(0.15):
                return self.value_of(gql.get_nullable_type(type_.of_type), constant, depth + 1)
            items = [self.value(type_.of_type, constant, depth + 1) for _ in range(self.random.randint(0, 3) if depth < 4 else 0)]
            return "[" + ", ".join(items) + "]"
        if gql.is_input_object_type(type_):
            return self.object(type_, constant, depth)
        if gql.is_enum_type(type_):
            return self.random.choice(list(type_.values))
        choices = {
            "Int": ["0", "-7", "42", "2147483647"], "Float": ["1.5", "-2e3", "7", "0.25"], "Boolean": ["true", "false"],
            "String": ['"q"', '"""\n  block\n    text\n"""', '"\\u00e9 \\n"', '""'], "ID": ['"i"', "12"],
        }
        return self.random.choice(choices.get(type_.name, ["1", '"any"', "[1, {a: RED}]", "{deep: [true]}"]))

    def object(self, type_, constant, depth):
        fields = type_.fields
        if getattr(type_, "is_one_of", False):
            leaves = [name for name in fields if not gql.is_input_object_type(gql.get_named_type(fields[name].type))]
            if depth > 3 and not leaves:
                return "{}"
            name = self.random.choice(leaves if depth > 3 else list(fields))
            return "{" + f"{name}: {self.value(fields[name].type, constant, depth + 1, one_of=True)}" + "}"
        given = []
        for name, field in fields.items():
            if gql.is_required_input_field(field) or (depth < 3 and self.chance(0.35)):
                given.append(f"{name}: {self.value(field.type, constant, depth + 1)}")
        if self.chance(self.wild):
            given.append(self.random.choice(["nope: 1"] + given))
        self.random.shuffle(given)
        return "{" + ", ".join(given) + "}"


class Data:
    """Root values, and values for variables, that mostly fit their types."""

    def __init__(self, schema, seed, wild=0.03, depth=6):
        self.schema, self.random, self.wild, self.depth = schema, random.Random(seed), wild, depth

    def chance(self, probability):
        return self.random.random() < probability

    def root(self, kind="query"):
        return self.object({"query": self.schema.query_type, "mutation": self.schema.mutation_type,
                            "subscription": self.schema.subscription_type}[kind], 0)

    def object(self, type_, depth):
        return {name: self.output(field.type, depth + 1) for name, field in type_.fields.items()
                if depth < 3 or self.chance(0.8)}

    def output(self, type_, depth):
        if gql.is_non_null_type(type_):
            return None if self.chance(self.wild) else self.output(type_.of_type, depth)
        if self.chance(0.06):
            return None
        if gql.is_list_type(type_):
            if self.chance(self.wild):
                return 5
            return [self.output(type_.of_type, depth + 1) for _ in range(self.random.randint(0, 3 if depth < self.depth - 2 else 1))]
        if gql.is_composite_type(type_):
            if depth > self.depth:
                return None
            possible = self.schema.get_possible_types(type_) if gql.is_abstract_type(type_) else [type_]
            if not possible:
                return None
            concrete = self.random.choice(list(possible))
            name = concrete.name if not self.chance(self.wild) else self.random.choice(["Human", "Nope", 3])
            return self.object(concrete, depth) | ({"__typename": name} if gql.is_abstract_type(type_) else {})
        if self.chance(self.wild):
            return self.random.choice([1, "x", True, 1.5, 99999999999, [1], {"a": 1}])
        if gql.is_enum_type(type_):
            return self.random.choice(list(type_.values))
        return self.random.choice({
            "Int": [0, 7, -3], "Float": [1.5, 2, -0.25], "String": ["s", "é😀", "$args", ""], "Boolean": [True, False],
            "ID": ["i", 7],
        }.get(type_.name, [{"deep": [1, None]}, "any", 4]))

    def variables(self, document):
        """Values for the variables of the document's first operation."""
        values = {}
        for definition in document.definitions[0].variable_definitions or ():
            type_ = gql.type_from_ast(self.schema, definition.type)
            if type_ is None or not gql.is_input_type(type_):
                continue
            optional = not gql.is_non_null_type(type_) or definition.default_value
            if not (optional and self.chance(0.3)) and not self.chance(self.wild):
                values[definition.variable.name.value] = self.input(type_, 0)
        return values

    def input(self, type_, depth):
        if self.chance(self.wild):
            return self.random.choice([None, 1, "x", True, 1.5, 99999999999, [1], {"a": 1}, [None]])
        if gql.is_non_null_type(type_):
            return self.input(type_.of_type, depth)
        if self.chance(0.08):
            return None
        if gql.is_list_type(type_):
            if depth < 4 and self.chance(0.15):
                return self.input(type_.of_type, depth + 1)
            return [self.input(type_.of_type, depth + 1) for _ in range(self.random.randint(0, 2) if depth < 4 else 0)]
        if gql.is_input_object_type(type_):
            fields = list(type_.fields.items())
            if getattr(type_, "is_one_of", False) and not self.chance(self.wild):
                leaves = [pair for pair in fields if not gql.is_input_object_type(gql.get_named_type(pair[1].type))]
                fields = [self.random.choice(leaves if depth > 3 else fields)] if leaves or depth <= 3 else []
                return {name: self.input(gql.GraphQLNonNull(field.type), depth + 1) for name, field in fields}
            return {name: self.input(field.type, depth + 1) for name, field in fields
                    if gql.is_required_input_field(field) or (depth < 3 and self.chance(0.4))}
        if gql.is_enum_type(type_):
            return self.random.choice(list(type_.values))
        return self.random.choice({"Int": [0, 7], "Float": [1.5, 2], "String": ["s", "é"], "Boolean": [True, False],
                                   "ID": ["i", 7]}.get(type_.name, [{"deep": [1]}, "any"]))


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
