"""Tables as people have them are read as their owners mean them."""

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyrocco.io import MatrixError, read_matrix, write_matrix
from pyrocco.io.named_matrix import Matrix, unique_names

RNG = np.random.default_rng(0)


def read(tmp_path, text, encoding="utf-8", **options):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    return read_matrix(path, **options)


def lines(*rows):
    return "".join(f"{row}\n" for row in rows)


@pytest.mark.parametrize(
    "heading",
    ["id", "gene", "Entrez ID", "GeneID", "customer", "userId", "sample", "SKU", "Kundennr", "No"],
)
def test_whole_numbers_under_such_a_heading_are_row_names(tmp_path, heading):
    matrix = read(tmp_path, lines(f"{heading},a,b", "7157,1,2", "672,3,5", "10,5,6"))
    assert (matrix.row_names, matrix.column_names) == (("7157", "672", "10"), ("a", "b"))


@pytest.mark.parametrize(
    "heading", ["age", "acid", "weight", "grid", "dose", "salary", "count", "target"]
)
def test_whole_numbers_that_never_repeat_may_be_measured(tmp_path, heading):
    matrix = read(tmp_path, lines(f"{heading},a,b", "7157,1,2", "672,3,5", "10,5,6"))
    assert matrix.column_names == (heading, "a", "b")


def test_numbers_with_fractions_are_no_identifiers(tmp_path):
    matrix = read(tmp_path, lines("sample,a,b", "1.5,1,2", "2,3,5"))
    assert matrix.column_names == ("sample", "a", "b")


def test_a_few_numbers_under_the_name_of_a_thing_are_data(tmp_path):
    matrix = read(tmp_path, lines("case,a,b", "0,1,2", "1,3,5", "1,5,6", "0,7,7", "1,8,2"))
    assert matrix.column_names == ("case", "a", "b")


def test_a_first_column_that_counts_the_lines(tmp_path):
    rows = [f"{i},{x:.2f},{x * x:.2f}" for i, x in enumerate(RNG.normal(size=6), start=1990)]
    assert read(tmp_path, lines("year,a,b", *rows)).row_names[0] == "1990"
    assert read(tmp_path, lines(*rows)).shape == (6, 2)
    four = read(tmp_path, lines("year,a,b", *rows[:4]))  # too few lines to tell
    assert four.shape == (4, 3)


def test_codes_without_a_heading(tmp_path):
    rows = [f"{code},{x:.2f},{x * x:.2f}" for x, code in enumerate((7157, 672, 5, 1017, 3))]
    fractions = [row.replace(".00", ".25") for row in rows]
    assert read(tmp_path, lines(*fractions)).row_names[0] == "7157"
    assert read(tmp_path, lines(*rows).replace(".00", "")).shape == (5, 3)


def test_identifiers_beside_names_are_set_aside(tmp_path):
    matrix = read(tmp_path, lines("symbol,entrez,liver", "TP53,7157,1", "MYC,4609,2"))
    assert (matrix.row_names, matrix.column_names) == (("TP53", "MYC"), ("liver",))
    assert matrix.set_aside == ("entrez",)
    assert (
        'Set aside, because it holds identifiers: "entrez". If it is data, name all columns of '
        "data with --columns."
    ) in matrix.notes
    repeated = read(tmp_path, lines("name,customer_id,liver", "a,1,1", "b,1,2"))
    assert repeated.column_names == ("customer_id", "liver")


def test_identifiers_in_another_column(tmp_path):
    matrix = read(tmp_path, lines("age,customer_id,spent", "41,9,5.5", "35,8,7", "29,7,1"))
    assert (matrix.row_names, matrix.column_names) == (("9", "8", "7"), ("age", "spent"))
    assert 'Column 2 ("customer_id") holds the row names.' in " ".join(matrix.notes)


def biologist(path, n_titles=2):
    """A sheet with titles, Entrez numbers, a description and replicates of the same name."""
    X = RNG.normal(size=(5, 4)).round(3)
    sheet = (book := openpyxl.Workbook()).active
    for title in ["Table S3. Expression of genes", "Smith et al. 2024"][:n_titles]:
        sheet.append([title])
    sheet.append([])
    sheet.append(["Entrez", "Description", "liver", "liver", "heart", "heart"])
    for i, row in zip((7157, 672, 4609, 10, 1017), X, strict=True):
        sheet.append([i, "a kinase", *row.tolist()])
    book.save(path)
    return X


def test_a_sheet_with_titles_and_replicates_of_the_same_name(tmp_path):
    X = biologist(tmp_path / "t.xlsx")
    matrix = read_matrix(tmp_path / "t.xlsx")
    np.testing.assert_array_equal(matrix.X, X)
    assert matrix.row_names == ("7157", "672", "4609", "10", "1017")
    assert matrix.column_names == ("liver", "liver (2)", "heart", "heart (2)")
    assert matrix.set_aside == ("Description",)
    assert matrix.notes[1] == (
        'The first 2 rows are not part of the table: "Table S3. Expression of genes". If it is, '
        "use --skip-rows 0."
    )
    assert matrix.notes[-2] == (
        '2 column names occur more than once: "liver", "heart". The later ones are numbered, as '
        'in "liver (2)".'
    )


def test_empty_rows_between_titles_are_counted_as_in_the_sheet(tmp_path):
    """What the note says is what --skip-rows takes."""
    sheet = (book := openpyxl.Workbook()).active
    for row in [[], ["Table S3"], [], ["By us"], [], ["gene", "a", "b"], ["g1", 1, 2]]:
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    matrix = read_matrix(tmp_path / "t.xlsx")
    assert 'The first 4 rows are not part of the table: "Table S3".' in matrix.notes[1]
    skipped = read_matrix(tmp_path / "t.xlsx", skip_rows=4)
    assert (skipped.row_names, skipped.column_names) == (matrix.row_names, matrix.column_names)


@pytest.mark.parametrize(
    "titles",
    [
        "Table S3\n",
        "Table S3, expression, of genes\nDownloaded 2020-01-01\n\n",
        "Table S3,,,\n,,,\n",
        '"Table S3\n(two lines, with ""quotes"")",,,\n',
        '# a comment with one "\nTable S3\n',
    ],
)
@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_titles_of_text_files(tmp_path, monkeypatch, titles, engine):
    monkeypatch.setattr("pyrocco.io.text_tables.LARGE", 0 if engine == "pyarrow" else 1 << 40)
    matrix = read(tmp_path, titles + lines("gene,a,b,c", "g1,1,2,3", "g2,3,4,5", "g3,2,9,2"))
    np.testing.assert_array_equal(matrix.X, [[1, 2, 3], [3, 4, 5], [2, 9, 2]])
    assert (matrix.row_names, matrix.column_names) == (("g1", "g2", "g3"), ("a", "b", "c"))
    assert '"Table S3' in matrix.notes[0]


def test_titles_above_numbers_alone(tmp_path):
    assert read(tmp_path, "My data\n1,2,3\n4,5,6\n7,8,8\n").shape == (3, 3)


def test_a_first_row_with_few_values_is_no_title(tmp_path):
    matrix = read(tmp_path, lines("g1,,,,", "g2,1,2,3,4", "g3,4,5,1,1"))
    assert matrix.row_names == ("g1", "g2", "g3")
    with pytest.raises(MatrixError, match="2 column names on the first line, but 4 cells"):
        read(tmp_path, lines("a,b", "1,2,3,4", "5,6,7,8"))


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("gene,2001,2002", ("2001", "2002")),
        ("Land,2003,2002", ("2003", "2002")),
        ("id,2001,2002", ("2001", "2002")),
        ("gene,1,2", ("1", "2")),
        ("shop,2001,total", ("2001", "total")),
    ],
)
@pytest.mark.parametrize("first", ["g{}", "10{}"])
def test_numbers_as_headings(tmp_path, header, names, first):
    rows = [f"{first.format(i)},{5 + i},{17 - 3 * i}" for i in (1, 2, 3)]
    if header.startswith("Land") and first != "g{}":
        header = header.replace("Land", "no")
    matrix = read(tmp_path, lines(header, *rows))
    assert matrix.column_names == names
    assert matrix.shape == (3, 2)


def test_years_of_birth_are_data(tmp_path):
    assert read(tmp_path, lines("Ann,1970,1994", "Bob,1982,2001")).shape == (2, 2)


RATINGS = [
    (u, m, 1 + (7 * u + 3 * m + u * m) % 5, 881250949 + 977 * u * m)
    for u in range(1, 12)
    for m in range(100, 112)
    if (u + m) % 3
]


@pytest.mark.parametrize("has_header", [True, False])
@pytest.mark.parametrize("has_time", [True, False])
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "xlsx"])
def test_ratings_with_times(tmp_path, has_header, has_time, ending):
    frame = pd.DataFrame(RATINGS, columns=["user", "movie", "rating", "timestamp"])
    frame = frame if has_time else frame.drop(columns="timestamp")
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        frame.to_parquet(path, index=False)
    elif ending == "xlsx":
        frame.to_excel(path, index=False, header=has_header)
    else:
        sep = "\t" if ending == "tsv" else ","
        frame.to_csv(path, index=False, header=has_header, sep=sep)
    matrix = read_matrix(path)
    assert matrix.shape == (11, 12)
    expected = frame.set_index(["user", "movie"])["rating"].unstack()  # noqa: PD010 - pairs are unique
    order = [matrix.column_names.index(str(movie)) for movie in expected]
    np.testing.assert_array_equal(matrix.X[:, order], expected)
    notes = " ".join(matrix.notes)
    assert "If every line is a row of the matrix, use --layout wide." in notes
    assert "not listed count as missing. If they are 0, use --absent zero." in notes
    assert read_matrix(path, layout="wide").shape[0] == len(frame)


def long_values(tmp_path, heading, values):
    rows = [f"u{i % 4},p{i},{value}" for i, value in enumerate(values)]
    return read(tmp_path, lines(f"user,product,{heading}", *rows), layout="long")


@pytest.mark.parametrize(
    ("heading", "values", "is_missing"),
    [
        ("rating", [1, 1, 1, 2], True),
        ("quantity", [3, 4, 5, 4] * 5, False),
        ("value", [5, 4, 4, 3, 5, 4, 2, 4, 1, 4, 3, 4], True),
        ("value", [1, 1, 1, 2, 1, 1, 3, 1, 1, 2, 5, 1], False),
        ("value", [12.5, 99, 3, 7.25], False),
        ("value", [-0.5, 0.25, 1.5, -2], True),
    ],
)
def test_what_is_not_listed(tmp_path, heading, values, is_missing):
    matrix = long_values(tmp_path, heading, values)
    dense = matrix.X if isinstance(matrix.X, np.ndarray) else matrix.X.toarray()
    assert np.isnan(dense).any() == is_missing
    other = {True: "--absent zero", False: "--absent missing"}[is_missing]
    assert other in matrix.notes[-3 if is_missing else -2]


def test_purchases_with_dates_are_long_and_panels_are_not(tmp_path):
    rows = ["c1,p1,2,2024-01-05", "c1,p2,1,2024-01-05", "c2,p1,4,2024-02-07", "c1,p1,3,2024-03-01"]
    matrix = read(tmp_path, lines("customer,product,quantity,date", *rows))
    np.testing.assert_array_equal(matrix.X, [[5, 1], [4, 0]])
    panel = ["2019,x,f,1", "2020,x,f,2", "2019,y,m,3", "2020,y,m,4"]
    with_wide = read(tmp_path, lines("year,place,sex,people", *panel), layout="auto")
    assert with_wide.shape[0] == 4


def test_more_ratings_than_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("pyrocco.io.tables.machine_memory", lambda: 100.0)
    with pytest.raises(MatrixError, match="use --absent zero, or fewer rows and columns"):
        long_values(tmp_path, "rating", range(1, 9))


@pytest.mark.parametrize(
    ("yes", "no"),
    [("yes", "no"), ("True", "False"), ("Ja", "Nein"), ("present", "absent"), ("WAHR", "FALSCH")],
)
@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_answers_as_cells(tmp_path, yes, no, ending):
    X = np.array([[1, 0, 1], [0, 0, np.nan], [1, 1, 0], [0, 1, 1]])
    words = pd.DataFrame(X).replace({1: yes, 0: no}).set_axis(list("abc"), axis=1)
    words.insert(0, "site", ["w", "x", "y", "z"])
    path = tmp_path / f"t.{ending}"
    save = {"csv": words.to_csv, "xlsx": words.to_excel, "parquet": words.to_parquet}[ending]
    save(path, index=False)
    matrix = read_matrix(path)
    np.testing.assert_array_equal(matrix.X, X)
    assert (matrix.row_names, matrix.column_names) == (("w", "x", "y", "z"), ("a", "b", "c"))
    assert "The cells are answers: 1 stands for yes, 0 for no." in matrix.notes


def test_an_answer_that_is_none(tmp_path):
    rows = ["x,yes,no"] * 60
    text = lines("site,a,b", *(f"{i}{row}" for i, row in enumerate(rows)), "z,perhaps,no")
    with pytest.raises(
        MatrixError, match=r'row 61 .*holds "perhaps", which is neither yes nor no'
    ):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ('shop,a,b\nx,"1,234","5,678.5"\ny,12,"1,000,000"\n', "commas between thousands"),
        ("shop\ta\tb\nx\t1,234\t5678.5\ny\t12\t1,000,000\n", "commas between thousands"),
        (
            "shop;a;b\nx;1.234;5.678,5\ny;12;1.000.000\n",
            "a decimal comma and points between thousands",
        ),
        ("shop;a;b\nx;1 234;5 678,5\ny;12;1 000 000\n", "decimal comma and spaces between"),
        ("shop;a;b\nx;1\u00a0234;5\u00a0678,5\ny;12;1\u00a0000\u00a0000\n", "spaces between"),
        ("shop;a;b\nx;1'234;5'678.5\ny;12;1'000'000\n", "apostrophes between thousands"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_separators_of_thousands(tmp_path, text, about, encoding):
    matrix = read(tmp_path, text, encoding)
    np.testing.assert_array_equal(matrix.X, [[1234, 5678.5], [12, 1e6]])
    assert about in matrix.notes[0]
    assert matrix.row_names == ("x", "y")


@pytest.mark.parametrize(
    ("text", "about", "values"),
    [
        ("a,x,y\nr,1.5%,20%\ns,3%,4%\n", "the sign %", [[1.5, 20], [3, 4]]),
        ("a;x;y\nr;1,5 %;20 %\ns;3 %;4 %\n", "decimal comma and the sign %", [[1.5, 20], [3, 4]]),
        ('a,x,y\nr,"$1,500.5",20%\ns,-$3,4%\n', "signs % $", [[1500.5, 20], [-3, 4]]),
        ("a,x\n100%,1.5\n50%,2\n", "", [[1.5], [2]]),
    ],
)
def test_percent_signs_and_currencies(tmp_path, text, about, values):
    path = tmp_path / "table.csv"
    path.write_text(text)
    matrix = read_matrix(path)
    assert matrix.X.tolist() == values
    assert about in matrix.notes[0]
    assert ("sign" in matrix.notes[0]) == bool(about)


def test_a_second_line_of_texts(tmp_path):
    """Units, or names below names of groups as pandas writes them."""
    path = tmp_path / "table.csv"
    path.write_text("gene,x,y\nunit,mg,l\nr,1,2\ns,3,4.5\nt,6,7\n")
    words = "line 2 of the file holds texts only: delete it if it holds units, or use --skip-rows"
    with pytest.raises(MatrixError, match=words):
        read_matrix(path)
    assert read_matrix(path, skip_rows=1).column_names == ("mg", "l")
    sheet = pd.read_csv(path, header=None)
    sheet.to_excel(tmp_path / "table.xlsx", header=False, index=False)
    with pytest.raises(MatrixError, match="row 1 of the table holds texts only"):
        read_matrix(tmp_path / "table.xlsx")


def test_replicates_of_time_points_as_headings(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("gene,1,1,2,2\nr,1.5,2,3,4\ns,3,4.5,2,1\n")
    assert read_matrix(path).column_names == ("1", "1 (2)", "2", "2 (2)")
    path.write_text("gene,1,1,2,2\nr,1,2,3,4\ns,3,4,2,1\n")
    matrix = read_matrix(path)
    assert matrix.X.shape == (3, 4)
    assert "If the first line holds them, use --header." in " ".join(matrix.notes)
    assert "--header" not in " ".join(read_matrix(path, header=False).notes)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_notes_below_a_table_are_no_rows(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    notes = ["Source: our laboratory", "* p < 0.05"]
    frame = pd.DataFrame({"gene": ["a", "b", "c", *notes], "x": [1.5, 2, np.nan, np.nan, np.nan]})
    frame["y"] = frame["x"]
    save = frame.to_csv if ending == "csv" else frame.to_excel
    save(path, index=False)
    matrix = read_matrix(path)
    assert matrix.row_names == ("a", "b", "c")  # a name without values is no note
    listed = '"Source: our laboratory", "* p < 0.05"'
    assert f"The last 2 rows, {listed}, have no values and are left out." in matrix.notes


def test_columns_without_values_are_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,x,y\nr,1,\ns,2,\n")
    matrix = read_matrix(path)
    assert matrix.X.shape == (2, 2)
    assert 'The column "y" has no values; --ignore leaves out columns.' in matrix.notes


def test_commas_that_may_be_either(tmp_path):
    decimals = read(tmp_path, "a;b\n0,123;1,234\n2,345;3,456\n")
    assert decimals.X[1, 0] == 2.345
    thousands = read(tmp_path, "a;b\n123;1,234\n2,345;456\n")
    assert thousands.X[1, 0] == 2345


def german(path):
    """A table as German Excel saves it: semicolons, decimal commas and a byte order mark."""
    X = np.round(RNG.normal(size=(6, 4)) * 1000, 2)
    frame = pd.DataFrame(X, columns=["Größe", "Höhe", "Länge", "Maß"])
    frame.insert(0, "Kundennr", [5012, 17, 930, 4, 77, 12])
    frame.to_csv(path, sep=";", decimal=",", index=False, encoding="utf-8-sig")
    return X


@pytest.mark.parametrize(
    ("text", "note", "value", "decimal", "other"),
    [
        (
            "a;1.007;2.500",
            "1.007 is read as 1.007; with --decimal , it is 1007.",
            1.007,
            ",",
            1007,
        ),
        (
            "a;1,007;2,500",
            "1,007 is read as 1.007; with --decimal . it is 1007.",
            1.007,
            ".",
            1007,
        ),
        ("a;1,007;2;7", "1,007 is read as 1007; with --decimal , it is 1.007.", 1007, ",", 1.007),
    ],
)
def test_a_point_or_comma_that_may_be_either_is_named(tmp_path, text, note, value, decimal, other):
    path = tmp_path / "t.csv"
    head = ";".join(["gene", "x", "y", "z"][: text.count(";") + 1])
    path.write_text(f"{head}\n{text}\n{text.replace('a', 'b')}\n")
    matrix = read_matrix(path)
    assert note in matrix.notes
    assert matrix.X[0, 0] == value
    assert read_matrix(path, decimal=decimal).X[0, 0] == other
    path.write_text("gene;x;y\na;1.007;0.250\n")
    assert not any("is read as" in note for note in read_matrix(path).notes)


def test_a_table_from_german_excel(tmp_path):
    X = german(tmp_path / "t.csv")
    matrix = read_matrix(tmp_path / "t.csv")
    np.testing.assert_array_equal(matrix.X, X)
    assert matrix.row_names == ("5012", "17", "930", "4", "77", "12")
    assert matrix.column_names == ("Größe", "Höhe", "Länge", "Maß")


def totals():
    frame = pd.DataFrame(RNG.integers(1, 5000, (5, 4)), columns=list("abcd"), index=list("vwxyz"))
    frame["Total"] = frame.sum(axis=1)
    frame.loc["Grand Total"] = frame.sum()
    return frame.rename_axis("shop")


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_totals_are_left_out(tmp_path, ending):
    frame = totals()
    path = tmp_path / f"t.{ending}"
    frame.to_csv(path) if ending == "csv" else frame.to_excel(path)
    matrix = read_matrix(path)
    np.testing.assert_array_equal(matrix.X, frame.iloc[:-1, :-1])
    notes = " ".join(matrix.notes)
    assert 'The last column, "Total", is the sum of the others and is left out' in notes
    assert 'The last row, "Grand Total", is the sum of the others and is left out' in notes
    np.testing.assert_array_equal(read_matrix(path, keep_totals=True).X, frame)


def test_a_total_that_is_no_sum_is_kept(tmp_path):
    frame = totals()
    frame.loc["Grand Total"] = 7
    frame["Total"] = 7
    frame.to_csv(tmp_path / "t.csv")
    assert read_matrix(tmp_path / "t.csv").shape == frame.shape


COUNTS = RNG.poisson(20, (6, 3))


@pytest.mark.parametrize(
    ("chromosome", "start", "end", "strand"),
    [("chr1;chr1", "100;200", "150;300", "+;+"), ("1", "100", "150", "-")],
)
def test_positions_in_a_genome_are_set_aside(tmp_path, chromosome, start, end, strand):
    frame = pd.DataFrame(COUNTS, columns=["s1.bam", "s2.bam", "s3.bam"])
    places = {"Chr": chromosome, "Start": start, "End": end, "Strand": strand, "Length": 51}
    for j, (name, value) in enumerate(places.items()):
        frame.insert(j, name, value)
    frame.insert(0, "Geneid", [f"ENSG{i}" for i in range(6)])
    text = '# Program:featureCounts v2; Command:"featureCounts" "-a\n' + frame.to_csv(
        sep="\t", index=False
    )
    matrix = read(tmp_path, text)
    np.testing.assert_array_equal(matrix.X, COUNTS)
    assert matrix.row_names[0] == "ENSG0"
    assert matrix.set_aside == tuple(places)
    lengths = read(tmp_path, text, columns="Length,*.bam")
    assert lengths.column_names == ("Length", "s1.bam", "s2.bam", "s3.bam")


@pytest.mark.parametrize("description", ["na", "a kinase", "17"])
def test_gct_files(tmp_path, description):
    frame = pd.DataFrame(COUNTS, columns=["s1", "s2", "s3"])
    frame.insert(0, "Description", description)
    frame.insert(0, "Name", [7157, 672, 4609, 10, 1017, 3])
    text = "#1.2\n6\t3\n" + frame.to_csv(sep="\t", index=False)
    (tmp_path / "t.gct").write_text(text)
    matrix = read_matrix(tmp_path / "t.gct")
    assert read(tmp_path, text).row_names == matrix.row_names
    np.testing.assert_array_equal(matrix.X, COUNTS)
    assert matrix.row_names == ("7157", "672", "4609", "10", "1017", "3")
    assert matrix.set_aside == ("Description",)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("a", "b"), ("a", "b")),
        (("a", "a", "a"), ("a", "a (2)", "a (3)")),
        (("a", "a (2)", "a"), ("a", "a (2)", "a (3)")),
        (("", "a", ""), ("row_0", "a", "row_2")),
    ],
)
def test_names_are_made_unique(names, expected):
    assert unique_names("row", names)[0] == expected


WORDS = st.text("abcdefghij XYZ", min_size=1, max_size=6).map(str.strip).filter(bool)
CELLS = st.one_of(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), st.just(float("nan")))


@st.composite
def matrices(draw):
    shape = draw(st.integers(2, 6)), draw(st.integers(2, 5))
    X = np.array([[draw(CELLS) for _ in range(shape[1])] for _ in range(shape[0])])
    X[0] = draw(st.floats(1.5, 9).map(lambda x: round(x, 2)))
    X[:, 0] = np.nan_to_num(X[:, 0], nan=0.5)
    names = [draw(st.lists(WORDS, min_size=n, max_size=n, unique_by=str.lower)) for n in shape]
    return pd.DataFrame(X, index=[f"g {name}" for name in names[0]], columns=names[1])


@settings(max_examples=60, deadline=None)
@given(frame=matrices(), sep=st.sampled_from([",", ";", "\t"]), data=st.data())
def test_round_trips(tmp_path_factory, frame, sep, data):
    path = tmp_path_factory.mktemp("round") / "t.csv"
    decimal = "." if sep == "," else data.draw(st.sampled_from([".", ","]))
    title = data.draw(st.sampled_from(["", "Table S1\n", "# by us\n", "A title\n\n"]))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    text = title + frame.rename_axis("gene").to_csv(sep=sep, decimal=decimal)
    path.write_text(text, encoding=encoding)
    matrix = read_matrix(path, decimal=decimal)
    np.testing.assert_array_equal(matrix.X, frame)
    assert matrix.row_names == tuple(frame.index)
    assert matrix.column_names == tuple(frame.columns)


@settings(max_examples=40, deadline=None)
@given(frame=matrices())
def test_written_matrices_are_read_back(tmp_path_factory, frame):
    path = tmp_path_factory.mktemp("written") / "t.csv"
    write_matrix(path, Matrix(frame.to_numpy(), tuple(frame.index), tuple(frame.columns)))
    again = read_matrix(path, keep_totals=True)
    np.testing.assert_array_equal(again.X, frame)
    assert (again.row_names, again.column_names) == (tuple(frame.index), tuple(frame.columns))
