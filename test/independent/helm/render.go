// Renders a Helm chart with what Helm itself is made of: Go's text/template and the functions of sprig, and the few that Helm adds
// of which the chart uses include, required, fail and toJson. Helm is not among Debian's packages; this needs golang-go and
// golang-github-masterminds-sprig-dev. Usage: render CHART < {"Values", "Release", "Chart"} as JSON; prints each file's text by name.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func main() {
	var data map[string]interface{}
	check(json.NewDecoder(os.Stdin).Decode(&data))
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, with interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, with)
		return text.String(), err
	}
	functions["required"] = func(why string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(why)
		}
		return value, nil
	}
	all.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(os.Args[1], "templates", "*"))
	check(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = all.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	rendered := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, ".tpl") {
			continue
		}
		var text strings.Builder
		check(all.ExecuteTemplate(&text, filepath.Base(file), data))
		rendered[filepath.Base(file)] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}
