//! Documents that are made from code stay what the code says.

#[test]
fn the_configuration_page_has_the_table_of_variables_as_the_code_has_it() {
    let page = include_str!("../../../docs/configuration.md");
    let table = countersign_runtime::markdown_table();
    assert!(page.contains(&table), "put this table into docs/configuration.md:\n{table}");
}
